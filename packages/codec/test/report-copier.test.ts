import { frame, malformed } from '@int/arbitraries';
import { Arena, BatchDecoder, HOP_COLUMNS, NOT_AVAILABLE, ReportCopier, STATE, TelemetryBatch } from '@int/codec';
import { REPORT_WORD_COLUMNS } from '@int/codec/internals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const OPTIONS = { reportPorts: [32766] };
const decoder = new BatchDecoder(OPTIONS);

/** Frames with gaps between them, some too large to be copied together, and with times. */
function decoded(frames: readonly Uint8Array[], gap: number, isTimed: boolean): TelemetryBatch {
  const size = frames.reduce((sum, { length }) => sum + length + gap, 0);
  const bytes = new Uint8Array(size);
  const offsets = new Uint32Array(frames.length);
  let at = 0;
  frames.forEach((one, k) => {
    bytes.set(one, at);
    offsets[k] = at;
    at += one.length + gap;
  });
  const lengths = Uint32Array.from(frames, ({ length }) => length);
  const times = isTimed && {
    timestampsHigh: Uint32Array.from(frames, (_, k) => 400_000_000 + k),
    timestampsLow: Uint32Array.from(frames, (_, k) => 0xffff_ff00 + k),
  };
  const batch = new TelemetryBatch({ frames: frames.length, reports: 2000, hops: 8000 });
  expect(decoder.decode(batch, { bytes, offsets, lengths, ...times })).toBe(frames.length);
  return batch;
}

const REFERENCES: readonly string[] = ['frame', 'hopStart', 'ethernet'];
const bytesOf = (batch: TelemetryBatch, row: number): Uint8Array => {
  const start = batch.frameOffset[batch.frame[row]!]!;
  return batch.bytes.subarray(start, start + batch.frameLength[batch.frame[row]!]!);
};

/** Compares everything that is known of a report. Offsets are compared by their place in the frame. */
function same(from: TelemetryBatch, row: number, to: TelemetryBatch, copy: number): void {
  expect(to.timeNs(copy)).toBe(from.timeNs(row));
  expect(to.code[copy]).toBe(from.code[row]);
  expect(to.protocol[copy]).toBe(from.protocol[row]);
  expect(to.frameCode[to.frame[copy]!]).toBe(from.frameCode[from.frame[row]!]);
  for (const name of REPORT_WORD_COLUMNS) {
    if (REFERENCES.includes(name)) continue;
    const isLeftOut = /[123]$/.test(name) && name !== 'instructions' && (from.flags[row]! & (1 << 19)) === 0;
    if (!isLeftOut) expect([name, to[name][copy]]).toEqual([name, from[name][row]]);
  }
  expect(to.hopCount[copy]).toBe(from.hopCount[row]);
  const moved = to.frameOffset[to.frame[copy]!]! - from.frameOffset[from.frame[row]!]!;
  const place = (cell: number): number => {
    if (cell === NOT_AVAILABLE || to.capacity.bytes === 0) return NOT_AVAILABLE;
    return cell + moved;
  };
  expect(to.ethernet[copy]).toBe(place(from.ethernet[row]!));
  for (const name of HOP_COLUMNS) {
    for (let k = 0; k < from.hopCount[row]!; k++) {
      const cell = from.hop[name][from.hopStart[row]! + k]!;
      const wanted = name === 'domainOffset' ? place(cell) : cell;
      expect([name, to.hop[name][to.hopStart[copy]! + k]]).toEqual([name, wanted]);
    }
  }
  if (to.capacity.bytes > 0) expect(bytesOf(to, copy)).toEqual(bytesOf(from, row));
  else expect(bytesOf(to, copy).length).toBe(0);
}

describe('ReportCopier', () => {
  const frames = fc.array(
    fc.oneof(
      frame({ options: OPTIONS }).map(({ bytes }) => bytes),
      malformed(frame({ options: OPTIONS })),
    ),
    {
      minLength: 1,
      maxLength: 60,
      size: 'max',
    },
  );

  test('copies any rows, in as many parts as the target needs, with frames, times and hops', () => {
    const copier = new ReportCopier();
    let rowsCopied = 0;
    let parts = 0;
    fc.assert(
      fc.property(
        frames,
        fc.constantFrom(0, 16, 100),
        fc.boolean(),
        fc.constantFrom(2, 3, 1),
        fc.constantFrom(0, 4096, 65_536),
        fc.integer({ min: 1, max: 40 }),
        (all, gap, isTimed, keepOneOf, bytes, reports) => {
          const from = decoded(all, gap, isTimed);
          const rows = Uint32Array.from({ length: from.reports }, (_, row) => row).filter(
            (row) => keepOneOf === 1 || row % keepOneOf === 0,
          );
          const to = new TelemetryBatch({ frames: reports, reports, hops: 300, bytes });
          for (let at = 0; at < rows.length; ) {
            to.clear();
            const count = copier.append(from, to, rows, at, rows.length);
            // Only a frame larger than all of the target's bytes has no room.
            if (count === 0) {
              expect(bytes).toBe(4096);
              expect(from.frameLength[from.frame[rows[at]!]!]).toBeGreaterThan(bytes);
              at++;
              continue;
            }
            expect(to.reports).toBe(count);
            expect(to.isTimed).toBe(isTimed);
            expect(to.linkType).toBe('ethernet');
            for (let k = 0; k < count; k++) {
              same(from, rows[at + k]!, to, k);
              // Reports of one frame stay together.
              if (k > 0) {
                const isOne = from.frame[rows[at + k]!] === from.frame[rows[at + k - 1]!];
                expect(to.frame[k] === to.frame[k - 1]).toBe(isOne);
              }
            }
            at += count;
            rowsCopied += count;
            parts++;
          }
        },
      ),
      { numRuns: 60 },
    );
    expect(rowsCopied).toBeGreaterThan(500);
    expect(parts).toBeGreaterThan(50);
  });

  test('appends behind what the target holds, by runs and by rows', () => {
    const all = fc.sample(frame({ options: OPTIONS }), { numRuns: 100, seed: 7 }).map(({ bytes }) => bytes);
    const from = decoded(all, 0, true);
    const to = new TelemetryBatch({ frames: 400, reports: 4000, hops: 16_000, bytes: 1 << 20 });
    const copier = new ReportCopier();
    const reports = from.reports;
    expect(copier.appendAll(from, to)).toBe(reports);
    expect(copier.appendAll(from, to, 3, 10)).toBe(7);
    expect(copier.appendAll(from, to, 0, 50)).toBe(50);
    for (let row = 0; row < reports; row++) same(from, row, to, row);
    for (let k = 0; k < 7; k++) same(from, 3 + k, to, reports + k);
    for (let k = 0; k < 50; k++) same(from, k, to, reports + 7 + k);
  });

  test('finds the hops of a run although its first report has none, whatever the cell of that one says', () => {
    const from = new TelemetryBatch({ frames: 64, hops: 256 });
    for (let row = 0; row < 64; row++) {
      from.frame[row] = row;
      from.hopCount[row] = row === 0 ? 0 : 2;
      from.hopStart[row] = row === 0 ? 200 : 2 * row + 8;
    }
    for (let hop = 10; hop < 136; hop++) from.hop.nodeId[hop] = 1000 + hop;
    from.state.set([64, 64, 136, 1], STATE.FRAMES);
    const to = new TelemetryBatch({ frames: 64, hops: 256 });
    expect(new ReportCopier().appendAll(from, to)).toBe(64);
    expect(to.hop.nodeId.subarray(0, 126)).toEqual(from.hop.nodeId.subarray(10, 136));
  });

  test('refers to the bytes of the source: frames and cells that are offsets stay where they are', () => {
    const copier = new ReportCopier({ refer: true });
    fc.assert(
      fc.property(frames, fc.constantFrom(0, 16), fc.constantFrom(2, 3, 1), (all, gap, keepOneOf) => {
        const from = decoded(all, gap, true);
        const rows = Uint32Array.from({ length: from.reports }, (_, row) => row).filter((row) => row % keepOneOf === 0);
        const to = new TelemetryBatch({ frames: 60, reports: 2000, hops: 8000 });
        expect(copier.append(from, to, rows)).toBe(rows.length);
        if (rows.length > 0) expect(to.bytes).toBe(from.bytes);
        for (const [copy, row] of rows.entries()) {
          expect(to.ethernet[copy]).toBe(from.ethernet[row]);
          expect(bytesOf(to, copy)).toEqual(bytesOf(from, row));
          for (let k = 0; k < from.hopCount[row]!; k++) {
            const [old, own] = [from.hopStart[row]! + k, to.hopStart[copy]! + k];
            for (const name of HOP_COLUMNS) expect(to.hop[name][own]).toBe(from.hop[name][old]);
          }
          expect(to.nodeId[copy]).toBe(from.nodeId[row]);
          expect(to.timeNs(copy)).toBe(from.timeNs(row));
        }
      }),
      { numRuns: 10 },
    );
  });

  test('copies the chosen columns only, into memory that another thread reads', () => {
    const all = fc.sample(frame({ options: OPTIONS }), { numRuns: 50, seed: 9 }).map(({ bytes }) => bytes);
    const from = decoded(all, 4, true);
    const capacity = { frames: 100, reports: 1000, hops: 4000 };
    const shared = new SharedArrayBuffer(TelemetryBatch.byteLength(capacity));
    const reader = new TelemetryBatch(capacity, new Arena(shared));
    const writer = new TelemetryBatch(capacity, new Arena(shared));
    const hop = ['nodeId', 'hopLatency'] as const;
    new ReportCopier({ report: ['nodeId', 'ports'], hop }).appendAll(from, writer);
    expect(reader.reports).toBe(from.reports);
    expect(reader.isTimed).toBe(true);
    for (let row = 0; row < reader.reports; row++) {
      expect(reader.timeNs(row)).toBe(from.timeNs(row));
      expect(reader.ports[row]).toBe(from.ports[row]);
      expect(reader.flags[row]).toBe(from.flags[row]);
      for (let k = 0; k < from.hopCount[row]!; k++) {
        for (const name of HOP_COLUMNS) {
          const wanted =
            name === 'nodeId' || name === 'hopLatency' ? from.hop[name][from.hopStart[row]! + k] : NOT_AVAILABLE;
          expect(reader.hop[name][reader.hopStart[row]! + k]).toBe(wanted);
        }
      }
    }
    expect(reader.state[STATE.BYTES]).toBe(0);
  });
});
