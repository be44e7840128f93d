/** Asks for keys as fast as it can, and counts answers that are not the value of one write. */
import { parentPort, workerData } from 'node:worker_threads';
import { DartReader, type SegmentPlace } from '@int/dart';
import { keyOf, randomNumbers, versionOf } from './values.js';

/** Of `count`, word 0: how many answers were a value. */
const { seed, keys, count } = workerData as { seed: number; keys: number; count: Int32Array };
const random = randomNumbers(seed);
const readers: DartReader[] = [];
const counts = { asked: 0, answered: 0, mixed: 0, newest: 0 };
let isOver = false;

parentPort?.on('message', (places: SegmentPlace[] | null) => {
  if (places === null) isOver = true;
  else readers.push(new DartReader(places));
});

while (!isOver) {
  for (const reader of readers) {
    for (let more = 0; more < 500; more++) {
      const number = random() % keys;
      const { value } = reader.query(keyOf(number));
      counts.asked++;
      if (value === null) continue;
      const version = versionOf(number, value);
      counts.answered++;
      if (version < 0) counts.mixed++;
      counts.newest = Math.max(counts.newest, version);
    }
  }
  Atomics.store(count, 0, counts.answered);
  await new Promise((resolve) => setImmediate(resolve));
}
parentPort?.postMessage(counts);
