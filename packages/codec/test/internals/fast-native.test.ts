import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nativePrograms } from '../../../../.ci/test/native.js';
import { Arena } from '../../src/arena.js';
import { TelemetryBatch } from '../../src/batch.js';
import { FLAG } from '../../src/columns.js';
import { AcceleratorReport2 } from '../../src/fast/accelerator.js';
import { AcceleratorMemory } from '../../src/fast/memory.js';
import { FastReport2 } from '../../src/fast/report2.js';
import type { DecodeOptions } from '../../src/options.js';
import { frame, OPTIONS } from '../fast-arbitraries.js';
import { layOut, wrapEthernet } from '../fast-frames.js';
import { contents, decodeAll, expected, marks } from './fast-oracle.js';

const SEED = Number(process.env.INT_SEED ?? 20201008);

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'int-native-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The file format of `benchmarks/native/twins/frames_file.h`. */
function framesFile(frames: readonly Uint8Array[], options: DecodeOptions, batch: TelemetryBatch): Uint8Array {
  const { bytes, offsets, lengths } = layOut(frames, 1);
  const { isEthernet, tosMask, tosValue } = marks(options);
  const none = 0x10000;
  const arena = new Uint8Array(batch.buffer, batch.state.byteOffset);
  const size = TelemetryBatch.byteLength(batch.capacity) - 64;
  const header = Uint32Array.of(
    0x46544e49,
    Number(isEthernet),
    options.reportPorts?.[0] ?? none,
    options.intPorts?.[0] ?? none,
    options.intPorts?.[1] ?? none,
    tosMask,
    tosValue,
    batch.capacity.frames,
    batch.capacity.reports,
    batch.capacity.hops,
    frames.length,
    bytes.length,
    size,
    0,
    0,
    0,
  );
  const padding = new Uint8Array((4 - (bytes.length % 4)) % 4);
  return Buffer.concat(
    [header, offsets, lengths, bytes, padding, arena.subarray(0, size)].map(
      (part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength),
    ),
  );
}

/** The C twin knows INT over UDP alone. */
function isForTypeScriptAlone(bytes: Uint8Array, options: DecodeOptions): boolean {
  const batch = new TelemetryBatch({ frames: 1, hops: 256 });
  decodeAll(new FastReport2(marks(options)), batch, layOut([bytes]));
  return batch.reports === 1 && ((batch.flags[0]! >>> FLAG.ENCAPSULATION_SHIFT) & FLAG.ENCAPSULATION_MASK) !== 1;
}

describe('the C twin of the fast path', () => {
  it.each([
    ['reports', { ...OPTIONS[0]! }, false],
    ['reports marked by port and DSCP', { ...OPTIONS[1]! }, true],
    ['Ethernet frames', { ...OPTIONS[1]!, linkType: 'ethernet', reportPorts: [32766] }, false],
  ] as const)('fills the same columns as TypeScript and WebAssembly: %s', (_, options, drops) => {
    const programs = nativePrograms('decode_dump', 'decode_dump_asan');
    const isEthernet = options.linkType === 'ethernet';
    const payloads = fc.sample(frame, { seed: SEED, numRuns: 2600 });
    const all = isEthernet ? payloads.map((bytes, k) => wrapEthernet(bytes, 32766, k % 5)) : payloads;
    const frames = all.filter((bytes) => !isForTypeScriptAlone(bytes, options)).slice(0, 2000);
    const capacity = { frames: 3000, reports: 2000, hops: 9000 };
    const memory = new AcceleratorMemory(TelemetryBatch.byteLength(capacity) + (1 << 20));
    const results: unknown[] = [];
    const want = expected(frames, options, capacity, layOut(frames, 1).offsets);
    const prepare = (batch: TelemetryBatch): TelemetryBatch => {
      if (drops) {
        batch.state[4] = 1;
        batch.drop.fill(7);
      }
      return batch;
    };
    for (const [decoder, batch] of [
      [new FastReport2(marks(options)), prepare(new TelemetryBatch(capacity))],
      [new AcceleratorReport2(memory, marks(options)), prepare(memory.batch(capacity))],
    ] as const) {
      const refused = decodeAll(decoder, batch, layOut(frames, 1));
      results.push({ refused, ...contents(batch) });
    }
    const path = join(folder, 'frames.bin');
    writeFileSync(path, framesFile(frames, options, prepare(new TelemetryBatch(capacity))));
    for (const [tool, ...how] of [
      ['decode_dump'],
      ['decode_dump', 'whole'],
      ['decode_dump_asan'],
      ['decode_dump_asan', 'whole'],
    ]) {
      const output = execFileSync(join(programs, tool!), [path, ...how], { maxBuffer: 1 << 26, timeout: 100_000 });
      const size = TelemetryBatch.byteLength(capacity) - 64;
      const refused = new Uint32Array(new Uint8Array(output.subarray(size)).buffer);
      // A batch over a copy of the memory: making it resets the image, so that comes first.
      const batch = new TelemetryBatch(capacity, new Arena(new ArrayBuffer(size)));
      new Uint8Array(batch.buffer).set(output.subarray(0, size));
      results.push({ refused: [...refused], ...contents(batch) });
    }
    for (const result of results) expect(result).toEqual(results[0]);
    expect(results[0]).toMatchObject({ refused: want.refused, ...want.columns });
    expect(want.columns.frame!.length).toBeGreaterThan(200);
  });

  it('survives random frames under the sanitizers', () => {
    const native = join(nativePrograms('decode_fuzz', 'prefilter_fuzz'), '..');
    const output = execFileSync('make', ['-s', '-C', native, 'test'], { encoding: 'utf8', timeout: 300_000 });
    expect(output).toMatch(/frames, \d+ accepted/);
  });
});
