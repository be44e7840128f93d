/** Objects, columns and views are three readings of the same bytes: here they must say the same, field by field. */
import { dressed, frame, type GeneratedFrame, malformed, plainPacket } from '@int/arbitraries';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { STATE, TelemetryBatch } from '../../src/batch.js';
import { BatchDecoder } from '../../src/batch-decoder.js';
import { FLAG, NOT_AVAILABLE } from '../../src/columns.js';
import { AcceleratorMemory } from '../../src/fast/memory.js';
import { FastReport2 } from '../../src/fast/report2.js';
import { HOP_COLUMNS } from '../../src/fields.js';
import { FrameDecoder } from '../../src/frame-decoder.js';
import type { Hop, TelemetryRecord } from '../../src/model.js';
import type { DecodeOptions } from '../../src/options.js';
import { PACKETS, SEED } from '../agreement-length.js';
import { frame as fastReport } from '../fast-arbitraries.js';
import { check, checkRow, frameCode, isRow } from './agreement-rows.js';
import { marks } from './fast-oracle.js';

/** The long form goes on for an hour at most. */
const TIME_LIMIT_MS = process.env.INT_LONG === '1' ? 3_600_000 : 180_000;

fc.configureGlobal({ seed: SEED });

/** Frames behind one another in one buffer with a few bytes between. */
function packed(frames: readonly Uint8Array[]): { bytes: Uint8Array; offsets: Uint32Array; lengths: Uint32Array } {
  const gap = 3;
  const size = frames.reduce((sum, { length }) => sum + length + gap, gap);
  const bytes = new Uint8Array(new ArrayBuffer(size + 5), 5, size).fill(0xa5);
  const offsets = new Uint32Array(frames.length);
  const lengths = new Uint32Array(frames.length);
  let at = gap;
  frames.forEach((one, k) => {
    bytes.set(one, at);
    offsets[k] = at;
    lengths[k] = one.length;
    at += one.length + gap;
  });
  return { bytes, offsets, lengths };
}

/** Decoders of one set of options. */
interface Decoders {
  readonly objects: FrameDecoder;
  readonly plain: BatchDecoder;
  readonly accelerator: BatchDecoder;
  readonly general: BatchDecoder;
}
/** The memory of the WebAssembly accelerator. Where the engine has none of it, its decoder is the plain one. */
const memory = new AcceleratorMemory(64 << 20);
const cache = new Map<string, Decoders>();

function decodersOf(options: DecodeOptions): Decoders {
  const key = JSON.stringify(options);
  let decoders = cache.get(key);
  if (decoders === undefined) {
    decoders = {
      objects: new FrameDecoder(options),
      plain: new BatchDecoder(options),
      accelerator: new BatchDecoder({ ...options, memory }),
      general: new BatchDecoder({ ...options, fastPath: false }),
    };
    cache.set(key, decoders);
  }
  return decoders;
}

const capacity = { frames: 64, reports: 4000, hops: 40_000 };
const batch = new TelemetryBatch(capacity);
const others = [new TelemetryBatch(capacity), memory.batch(capacity)] as const;
const count = { frames: 0, rows: 0, hops: 0, sound: 0 };

type Cells = Uint8Array | Uint32Array | Int32Array;

/** Compares every cell of two batches that means something. */
function sameCells(a: TelemetryBatch, b: TelemetryBatch): void {
  const { frames, reports, hops } = a;
  const equal = (what: string, x: Cells, y: Cells, length: number): void => {
    for (let k = 0; k < length; k++) if (x[k] !== y[k]) check(what, k, x[k], y[k]);
  };
  equal('state', a.state, b.state, STATE.WRITTEN);
  equal('frameCode', a.frameCode, b.frameCode, frames);
  for (const name of ['code', 'hopCount', 'protocol', 'frame', 'flags', 'nodeId', 'sequence'] as const) {
    equal(name, a[name], b[name], reports);
  }
  for (const name of ['instructions', 'hopStart', 'ports', 'source0', 'destination0', 'drop', 'ethernet'] as const) {
    equal(name, a[name], b[name], reports);
  }
  for (let row = 0; row < reports; row++) {
    const flags = a.flags[row]!;
    // Words 1 to 3 of an IPv4 address and the timestamp of what has none are undefined.
    if ((flags & FLAG.IPV6) !== 0) {
      for (const name of ['source1', 'source2', 'source3', 'destination1', 'destination2', 'destination3'] as const) {
        check(name, row, a[name][row], b[name][row]);
      }
    }
    const version = flags & FLAG.REPORT_MASK;
    if (version === 1 || version === 2) check('reportTimestamp', row, a.reportTimestamp[row], b.reportTimestamp[row]);
  }
  for (const name of HOP_COLUMNS) equal(`hop.${name}`, a.hop[name], b.hop[name], hops);
}

/**
 * Decodes frames that may need different options into a batch for each way of decoding, and compares all readings. Frames
 * of one link type follow one another in a batch; the rows of earlier ones stay behind, so that stale cells would show.
 */
function agree(frames: readonly GeneratedFrame[]): void {
  const input = packed(frames.map((one) => one.bytes));
  const clear = (): void => {
    for (const one of others) sameCells(batch, one);
    for (const one of [batch, ...others]) one.clear();
  };
  clear();
  let k = 0;
  while (k < frames.length) {
    const { options } = frames[k]!;
    const key = JSON.stringify(options);
    let to = k + 1;
    while (to < frames.length && JSON.stringify(frames[to]!.options) === key) to++;
    if (batch.linkType !== (options.linkType ?? 'ethernet')) clear();
    const { objects, plain, accelerator, general } = decodersOf(options);
    const group = frames.slice(k, to);
    let frame = batch.frames;
    let row = batch.reports;
    let hop = batch.hops;
    check('frames taken: plain', row, plain.decode(batch, input, k, to), to);
    check('frames taken: general', row, general.decode(others[0], input, k, to), to);
    check('frames taken: accelerator', row, accelerator.decode(others[1], input, k, to), to);
    for (const [index, one] of group.entries()) {
      const records: TelemetryRecord[] = objects.decode(one.bytes);
      check('frameCode', frame, batch.frameCode[frame], frameCode(records));
      check('frameOffset', frame, batch.frameOffset[frame], input.offsets[k + index]);
      check('frameLength', frame, batch.frameLength[frame], one.bytes.length);
      for (const record of records) {
        count.sound += record.status === 'ok' ? 1 : 0;
        if (!isRow(record)) continue;
        try {
          hop += checkRow(batch, row, frame, hop, record, input.bytes, one.options.domains !== undefined);
        } catch (error) {
          (error as Error).message += `\nframe ${index} of the call: ${Buffer.from(one.bytes).toString('hex')} ${key}`;
          throw error;
        }
        row++;
        count.rows++;
      }
      frame++;
    }
    check('reports', 0, batch.reports, row);
    check('hops', 0, batch.hops, hop);
    count.frames += group.length;
    count.hops += batch.hops;
    k = to;
  }
  for (const one of others) sameCells(batch, one);
}

const each = 8;
const list = (frames: fc.Arbitrary<GeneratedFrame>): fc.Arbitrary<GeneratedFrame[]> =>
  fc.array(frames, { minLength: 1, maxLength: 2 * each - 1, size: 'max' });
/** Runs that compare about `share` of all packets. */
const runs = (share: number): { numRuns: number } => ({ numRuns: Math.ceil((PACKETS * share) / each) });

/** The deployments that the fast path works in. */
const PAYLOADS: DecodeOptions = { linkType: 'report' };
const MARKED: DecodeOptions = { reportPorts: [32766] };
const fastFrames = frame({
  kinds: ['report'],
  reportVersions: ['2.0'],
  reportTypes: ['int-md'],
  intVersions: ['2'],
  modes: ['md'],
  encapsulations: ['udp', 'tcp', 'udp-new'],
  maxStackWords: 60,
  options: MARKED,
});

describe('objects, columns and views agree', () => {
  // Thousands of frames, each decoded in every way.
  test(
    'on sound frames of all kinds, dialects and link types in one batch',
    () => {
      fc.assert(
        fc.property(
          list(fc.oneof({ arbitrary: dressed(frame()), weight: 9 }, { arbitrary: plainPacket(), weight: 1 })),
          agree,
        ),
        runs(0.5),
      );
      expect(count.sound).toBeGreaterThan(count.frames / 2);
    },
    TIME_LIMIT_MS,
  );

  test('on frames that are cut, changed and mixed up', () => {
    const broken = fc.oneof(
      ...[MARKED, {}, { profile: 'int-afxdp-kafka' }, { profile: 'intmon' }, { linkType: 'report' }].map((options) =>
        malformed(options.linkType === 'report' ? REPORTS : frame({ options: options as DecodeOptions })).map(
          (bytes): GeneratedFrame => ({ bytes, records: [], options: options as DecodeOptions }),
        ),
      ),
    );
    fc.assert(fc.property(list(broken), agree), runs(0.25));
  });

  test('on reports of the shape that the fast path takes, sound and broken', () => {
    const whole = fc.oneof(
      fastFrames,
      malformed(fastFrames).map((bytes) => ({ bytes, records: [], options: MARKED })),
    );
    const payloads = fastReport.map((bytes): GeneratedFrame => ({ bytes, records: [], options: PAYLOADS }));
    fc.assert(fc.property(fc.oneof(list(whole), list(payloads)), agree), runs(0.25));
    const all = fc.sample(payloads, { numRuns: 500, seed: SEED });
    const { bytes, offsets, lengths } = packed(all.map((one) => one.bytes));
    const taken = all.filter((_, k) => {
      const fast = new FastReport2(marks(PAYLOADS));
      return fast.run(new TelemetryBatch({ frames: 1, hops: 256 }), bytes, offsets, lengths, k, k + 1) > k;
    }).length;
    expect(taken).toBeGreaterThan(100);
    console.log(
      `agreement: ${count.frames} frames, ${count.rows} report rows, ${count.hops} hop rows compared; ` +
        `the fast path takes ${taken} of ${all.length} report payloads`,
    );
  });

  test('on what is not carried: all ones in every column, whatever stood in the row before', () => {
    const batch = new TelemetryBatch({ frames: 1, hops: 600 });
    const all = fc.sample(frame({ options: MARKED, intVersions: ['2'], encapsulations: ['udp'], maxStackWords: 252 }), {
      numRuns: 120,
      seed: SEED,
    });
    const decoder = new BatchDecoder(MARKED);
    const objects = new FrameDecoder(MARKED);
    let blank = 0;
    for (const one of all) {
      batch.clear();
      const { bytes, offsets, lengths } = packed([one.bytes]);
      decoder.decode(batch, { bytes, offsets, lengths });
      const [record] = objects.decode(one.bytes);
      record!.hops.forEach((hop: Hop, k) => {
        if (batch.reports === 0) return;
        if (hop.nodeId === undefined) {
          expect(batch.hop.nodeId[batch.hopStart[0]! + k]).toBe(NOT_AVAILABLE);
          blank++;
        }
        if (hop.hopLatency === undefined) {
          expect(batch.hop.hopLatency[batch.hopStart[0]! + k]).toBe(NOT_AVAILABLE);
          blank++;
        }
      });
    }
    expect(blank).toBeGreaterThan(50);
  });
});

const REPORTS = frame({ kinds: ['report'], options: MARKED }).map(({ bytes, ...rest }): GeneratedFrame => {
  const six = bytes[12] === 0x86;
  return { ...rest, bytes: bytes.subarray(six ? 62 : 42) };
});
