/**
 * A software RNIC in a process of its own: `dart-rnic.js plain|accelerator|in-place SHAPE FRAMES`. It takes `frames TURNS` and `sum`, as
 * `benchmarks/native/twins/dart_bench.c` does.
 */
import { createInterface } from 'node:readline';
import { DartStore } from '@int/dart';
import { inPlace, makeRnic, readFrames, receiveAll, rewind } from './dart/rnic.js';
import { checksumOf, type StoreShape } from './dart/stores.js';

const [engine, shape, path] = process.argv.slice(2);
const { memory, hash, copies } = JSON.parse(shape!) as StoreShape;
const store = new DartStore({ memoryBytes: memory, hash, copies, engine: engine === 'plain' ? 'plain' : 'auto' });
const rnic = makeRnic(store);
const read = readFrames(path!, rnic.state.length);
const frames = engine === 'in-place' ? inPlace(store, read) : read;

function run(turns: number): object {
  let elapsed = 0;
  let used = 0;
  let found = 0;
  for (let turn = 0; turn < turns; turn++) {
    rewind(rnic);
    const cpu = process.cpuUsage();
    const start = process.hrtime.bigint();
    found += receiveAll(rnic, frames);
    const end = process.hrtime.bigint();
    const { user, system } = process.cpuUsage(cpu);
    elapsed += Number(end - start);
    used += (user + system) * 1000;
  }
  return { ns: Math.min(elapsed, used) / (turns * frames.offsets.length), found, checksum: 0 };
}

for await (const line of createInterface({ input: process.stdin })) {
  const [command, turns] = line.split(' ');
  console.log(
    JSON.stringify(command === 'frames' ? run(Number(turns)) : { checksum: checksumOf(store.segments[0]!.slots) }),
  );
}
