import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../../.ci/test/length.js';
import { Arena } from '../../src/arena.js';
import { TelemetryBatch } from '../../src/batch.js';
import { AcceleratorReport2 } from '../../src/fast/accelerator.js';
import { marksOf } from '../../src/fast/marks.js';
import { AcceleratorMemory } from '../../src/fast/memory.js';
import { FastReport2 } from '../../src/fast/report2.js';
import type { DecodeOptions } from '../../src/options.js';
import { settingsOf } from '../../src/scan/settings.js';
import { frame, OPTIONS, spec } from '../fast-arbitraries.js';
import { buildReport, layOut, wrapEthernet } from '../fast-frames.js';
import { contents, decodeAll, expected, marks, spoiledColumns } from './fast-oracle.js';

const SEED = Number(process.env.INT_SEED ?? 20201008);

const capacity = fc.record({
  frames: fc.constantFrom(64, 64, 64, 1, 7),
  reports: fc.constantFrom(64, 64, 64, 1, 7),
  hops: fc.integer({ min: 256, max: 700 }),
});

/** Ports of the first frames: what is no report port may still be one of INT, of probes, of a tunnel. */
const PORTS = [32766, 32767, 32766, 5000, 32766, 5017, 32766, 6081];

const memory = new AcceleratorMemory(32 << 20);
const accelerators = OPTIONS.map((options) => new AcceleratorReport2(memory, marks(options), 2048));
/** Each deployment with frames in the place of payloads: reports come to one port, or to any. */
const FRAMES = OPTIONS.map(
  (options, k): DecodeOptions => ({ ...options, linkType: 'ethernet', ...(k !== 1 && { reportPorts: [32766] }) }),
);
const frameAccelerators = FRAMES.map((options) => new AcceleratorReport2(memory, marks(options), 4096));
const acceleratorInput = memory.bytes(1 << 19);
const acceleratorOffsets = memory.words(256);
const acceleratorLengths = memory.words(256);

describe('the fast path', () => {
  it('fills the columns of a report with two hops and an own row', () => {
    const report = buildReport({
      bitmap: 0x9000,
      hops: 2,
      reportBits: 0x5000,
      hwId: 0x2a,
      sequence: 0x312345,
      nodeId: 77,
      reportFlags: 0xf5,
      mdFlags: 5,
      word: (block, index) => (block + 2) * 0x100 + index,
    });
    const { bytes, offsets, lengths } = layOut([report], 3);
    const batch = new TelemetryBatch({ frames: 32 });
    expect(new FastReport2(marks(OPTIONS[0]!)).run(batch, bytes, offsets, lengths, 0, 1)).toBe(1);
    expect([batch.frames, batch.reports, batch.hops]).toEqual([1, 1, 3]);
    expect(batch.flags[0]).toBe(0x2a * 2 ** 24 + 0b1_0110_1001_0110_0111_1111);
    expect(batch.nodeId[0]).toBe(77);
    expect(batch.sequence[0]).toBe(0x312345);
    expect(batch.instructions[0]).toBe(0x90005000);
    expect(batch.ports[0]).toBe(40000 * 65536 + 443);
    expect(batch.source0[0]).toBe(0x0a000001);
    expect(batch.destination0[0]).toBe(0x0a000002);
    // Three bytes in front of the report; its headers have 20 bytes and two words of its own.
    expect(batch.ethernet[0]).toBe(3 + 20 + 4 * 2);
    // Path order: the last block on the wire is the source; the reporting node comes last.
    expect([...batch.hop.nodeId.subarray(0, 3)]).toEqual([0x300, 0x200, 77]);
    expect([...batch.hop.queueId.subarray(0, 3)]).toEqual([0, 0, 0]);
    expect([...batch.hop.queueOccupancy.subarray(0, 3)]).toEqual([0x301, 0x201, 0x101]);
    expect([...batch.hop.l1IngressInterface.subarray(0, 3)]).toEqual([0xffffffff, 0xffffffff, 0]);
    expect([...batch.hop.l1EgressInterface.subarray(0, 3)]).toEqual([0xffffffff, 0xffffffff, 0x100]);
    expect([...batch.hop.hopLatency.subarray(0, 3)]).toEqual([0xffffffff, 0xffffffff, 0xffffffff]);
  });

  it('agrees with a slow decoder on valid, changed, cut and random frames, in place and copied', () => {
    let accepted = 0;
    let refusals = 0;
    fc.assert(
      fc.property(
        fc.array(frame, { minLength: 1, maxLength: 24 }),
        fc.constantFrom(1, 1, 1, 0, 0, 2, 3, 4),
        capacity,
        fc.nat(9),
        fc.boolean(),
        fc.boolean(),
        (payloads, which, rows, gap, ethernet, drops) => {
          const options = (ethernet ? FRAMES : OPTIONS)[which]!;
          const frames = ethernet
            ? payloads.map((bytes, k) => wrapEthernet(bytes, PORTS[k] ?? 32766, k % 3, k === 9 ? 0x5c : 0))
            : payloads;
          const input = layOut(frames, gap);
          const want = expected(frames, options, rows, input.offsets);
          accepted += want.columns.frame!.length;
          refusals += want.refused.length;
          // Unaligned, inside a larger buffer.
          const larger = new Uint8Array(input.bytes.length + 64).fill(0xa5);
          larger.set(input.bytes, 13);
          const outside = { ...input, bytes: larger.subarray(13, 13 + input.bytes.length) };
          acceleratorInput.set(input.bytes, 5);
          acceleratorOffsets.set(input.offsets);
          acceleratorLengths.set(input.lengths);
          const inside = {
            bytes: acceleratorInput.subarray(5, 5 + input.bytes.length),
            offsets: acceleratorOffsets,
            lengths: acceleratorLengths,
          };
          const scratch = new AcceleratorMemory(
            TelemetryBatch.byteLength({ frames: 64, reports: 64, hops: 700 }) * 2 + (1 << 20),
          );
          const accelerator = (ethernet ? frameAccelerators : accelerators)[which]!;
          const results: Record<string, number[]>[] = [];
          for (const [decoder, batch, source] of [
            [new FastReport2(marks(options)), new TelemetryBatch(rows), outside],
            [new AcceleratorReport2(scratch, marks(options)), scratch.batch(rows), outside],
            [accelerator, shared(rows), inside],
            [accelerator, shared(rows), { ...outside, offsets: acceleratorOffsets, lengths: acceleratorLengths }],
            [accelerator, shared(rows), { ...inside, offsets: input.offsets, lengths: input.lengths }],
            [accelerator, new TelemetryBatch(rows), inside],
          ] as const) {
            if (drops) {
              batch.state[4] = 1;
              batch.drop.fill(7);
            }
            const refused = decodeAll(decoder, batch, source, frames.length);
            expect(refused).toEqual(want.refused);
            const { state, ...columns } = contents(batch);
            expect(columns).toEqual(want.columns);
            expect(spoiledColumns(batch)).toEqual([]);
            results.push({ state: state! });
          }
          for (const result of results) expect(result).toEqual(results[0]);
        },
      ),
      { seed: SEED, numRuns: runs(800) },
    );
    // The generator must not drift into refusing, or accepting, nearly everything.
    expect(accepted).toBeGreaterThan(400 * LENGTH);
    expect(refusals).toBeGreaterThan(400 * LENGTH);
  });

  it('keeps columns all ones that a later bitmap does not carry', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(spec, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 5 }),
        (rounds) => {
          const options = OPTIONS[1]!;
          const rows = { frames: 8, reports: 8, hops: 2048 };
          const plain = new FastReport2(marks(options));
          const batches = [new TelemetryBatch(rows), shared(rows)] as const;
          for (const specs of rounds) {
            const frames = specs.map(buildReport);
            const input = layOut(frames);
            const want = expected(frames, options, rows, input.offsets);
            for (const [decoder, batch] of [
              [plain, batches[0]],
              [accelerators[1]!, batches[1]],
            ] as const) {
              batch.clear();
              expect(decodeAll(decoder, batch, input)).toEqual(want.refused);
              const { state: _, ...columns } = contents(batch);
              expect(columns).toEqual(want.columns);
              expect(spoiledColumns(batch)).toEqual([]);
            }
          }
        },
      ),
      { seed: SEED, numRuns: runs(150) },
    );
  });

  it('meets more bitmaps than its plan tables hold', () => {
    const frames = Array.from({ length: 1400 }, (_, k) =>
      buildReport({ bitmap: (k % 700) + 1, hops: 1, reportBits: ((k * 3) % 690) * 2 }),
    );
    const input = layOut(frames);
    const rows = { frames: 1400, reports: 1400, hops: 2800 };
    const want = expected(frames, OPTIONS[0]!, rows, input.offsets);
    expect(want.refused).toEqual([]);
    for (const [decoder, batch] of [
      [new FastReport2(marks(OPTIONS[0]!)), new TelemetryBatch(rows)],
      [accelerators[0]!, memory.batch(rows)],
    ] as const) {
      expect(decodeAll(decoder, batch, input)).toEqual([]);
      const { state: _, ...columns } = contents(batch);
      expect(columns).toEqual(want.columns);
    }
  });

  it('stops where rows run out and goes on in the next batch', () => {
    const frames = Array.from({ length: 50 }, (_, k) => buildReport({ bitmap: 0xf000, hops: k % 60, nodeId: k }));
    const input = layOut(frames);
    for (const [decoder, batch] of [
      [new FastReport2(marks(OPTIONS[0]!)), new TelemetryBatch({ frames: 16, hops: 300 })],
      [accelerators[0]!, memory.batch({ frames: 16, hops: 300 })],
    ] as const) {
      const nodes: number[] = [];
      let index = 0;
      while (index < frames.length) {
        batch.clear();
        const next = decoder.run(batch, input.bytes, input.offsets, input.lengths, index, frames.length);
        expect(next).toBeGreaterThan(index);
        expect(batch.reports).toBe(next - index);
        expect(batch.hops).toBeLessThanOrEqual(300);
        nodes.push(...batch.nodeId.subarray(0, batch.reports));
        index = next;
      }
      expect(nodes).toEqual(frames.map((_, k) => k));
    }
  });

  it('leaves frames alone that are described as lying outside the input', () => {
    const frames = [buildReport({ bitmap: 0xf000, hops: 3 }), buildReport({ bitmap: 0xf000, hops: 3 })];
    const { bytes } = layOut(frames);
    const length = frames[0]!.length;
    for (const [offset, size] of [
      [bytes.length - length + 1, length],
      [0xffffffff, length],
      [0xffffff00, 0x100 + length],
      [0x80000000, length],
      [0, 0xffffffff],
      [bytes.length, 0],
    ] as const) {
      const offsets = Uint32Array.of(0, offset, length);
      const lengths = Uint32Array.of(length, size, length);
      acceleratorInput.set(bytes);
      acceleratorOffsets.set(offsets);
      acceleratorLengths.set(lengths);
      for (const [decoder, batch, source] of [
        [new FastReport2(marks(OPTIONS[0]!)), new TelemetryBatch({ frames: 64 }), { bytes, offsets, lengths }],
        [accelerators[0]!, shared({ frames: 64, reports: 64, hops: 512 }), { bytes, offsets, lengths }],
        [
          accelerators[0]!,
          shared({ frames: 64, reports: 64, hops: 512 }),
          {
            bytes: acceleratorInput.subarray(0, bytes.length),
            offsets: acceleratorOffsets,
            lengths: acceleratorLengths,
          },
        ],
      ] as const) {
        expect(decodeAll(decoder, batch, source, 3)).toEqual([1]);
        expect(batch.reports).toBe(2);
      }
    }
  });

  it('decodes frames in any order, also when copied in', () => {
    const frames = Array.from({ length: 90 }, (_, k) => buildReport({ bitmap: 0xf000, hops: k % 7, nodeId: k }));
    const input = layOut(frames);
    const order = frames.map((_, k) => (k * 37) % 90);
    const offsets = Uint32Array.from(order, (k) => input.offsets[k]!);
    const lengths = Uint32Array.from(order, (k) => input.lengths[k]!);
    const batch = memory.batch({ frames: 90 });
    expect(decodeAll(accelerators[0]!, batch, { bytes: input.bytes, offsets, lengths })).toEqual([]);
    expect([...batch.nodeId.subarray(0, 90)]).toEqual(order);
  });

  it('takes what real traffic mostly is: flows over TCP, by DSCP and behind a new UDP header', () => {
    const options: DecodeOptions = { linkType: 'ethernet', intPorts: [5000], intDscp: { value: 0x17, mask: 0x3f } };
    const common = { bitmap: 0xf000, hops: 3, tos: 0x5c, tail: 40 };
    const frames = [
      buildReport({ ...common, transport: 'tcp', tcpWords: 8 }),
      buildReport({ ...common, transport: 'new-udp', innerProtocol: 6 }),
      buildReport({ ...common, transport: 'udp', npt: 0 }),
    ].map((payload) => wrapEthernet(payload, 32766));
    const input = layOut(frames);
    for (const [decoder, batch] of [
      [new FastReport2(marks(options)), new TelemetryBatch({ frames: 8 })],
      [new AcceleratorReport2(memory, marks(options)), memory.batch({ frames: 8 })],
    ] as const) {
      expect(decodeAll(decoder, batch, input)).toEqual([]);
      const records = Array.from(batch, (record) => [
        record.encapsulation,
        record.flow?.protocol,
        record.flow?.destinationPort,
      ]);
      expect(records).toEqual([
        ['tcp', 6, 443],
        ['udp-new', 6, 443],
        ['udp', 17, 443],
      ]);
    }
  });

  it('cannot serve what the general rules are for', () => {
    for (const options of [
      { profile: 'intmon' },
      { linkType: 'raw' },
      { verifyChecksums: true },
      { probeMarker: 1n },
    ] as const) {
      expect(marksOf(settingsOf(options))).toBeNull();
    }
  });

  it('needs memory that is there', () => {
    expect(() => new AcceleratorMemory(0)).toThrow(RangeError);
    expect(() => new AcceleratorMemory(65536).bytes(70000)).toThrow(RangeError);
  });
});

/**
 * A batch in the shared accelerator memory, as good as new. There are four places, used in turn, so that the memory is
 * bounded and the accelerator must follow from stride to stride.
 */
const places: TelemetryBatch[] = [];
let turn = 0;
function shared(rows: { frames: number; reports: number; hops: number }): TelemetryBatch {
  const which = turn++ % 4;
  places[which] ??= memory.batch({ frames: 64, reports: 64, hops: 2048 });
  return new TelemetryBatch(rows, new Arena(memory.buffer, places[which].state.byteOffset));
}
