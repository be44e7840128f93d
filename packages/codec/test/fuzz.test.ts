/** Whatever the bytes are: no throw, no read outside the frame, one code for each frame. */

import { isDeepStrictEqual } from 'node:util';
import { frame, malformed } from '@int/arbitraries';
import {
  BatchDecoder,
  CODES,
  CodecError,
  type DecodeOptions,
  decodeReport,
  FLAG,
  FrameDecoder,
  HOP_COLUMNS,
  recordToJson,
  TelemetryBatch,
} from '@int/codec';
import { CODE_STATUS, LINK_TYPES, PROFILES } from '@int/codec/internals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { corpus, mutate, Random } from './fuzz-inputs.js';

const SEED = Number(process.env.INT_SEED ?? 20_250_220);
fc.configureGlobal({ seed: SEED });
/** Mutated inputs. The long form sets a million or more. */
const RUNS = Number(process.env.INT_FUZZ_RUNS ?? runs(40_000));
const STATUSES: readonly string[] = ['ok', 'not-int', 'truncated', 'malformed', 'unsupported'];

interface Decoders {
  readonly options: DecodeOptions;
  readonly objects: FrameDecoder;
  readonly batch: BatchDecoder;
}

const DOMAINS: DecodeOptions['domains'] = {
  0: { 0: { bytes: 4, mode: 'export' }, 1: { bytes: 8, mode: 'source-only' } },
  1: {
    0: { bytes: 4, mode: 'export' },
    2: { bytes: 4, mode: 'source-inserted' },
    15: { bytes: 1020, mode: 'source-only' },
  },
};
/** Every profile on every link type, and the options that change what is looked at. */
const SETTINGS: readonly DecodeOptions[] = [
  ...LINK_TYPES.flatMap((linkType) =>
    PROFILES.flatMap((profile): DecodeOptions[] => [
      { linkType, profile },
      { linkType, profile, reportPorts: [32766] },
    ]),
  ),
  { verifyChecksums: true },
  { verifyChecksums: true, reportPorts: [32766] },
  { domains: DOMAINS },
  { domains: DOMAINS, reportPorts: [32766] },
  { probeMarker: 0n },
  { intDscp: { value: 0, mask: 0 } },
  { intDscp: { value: 0, mask: 0 }, reportPorts: [32766], intPorts: [] },
];
const ALL: readonly Decoders[] = SETTINGS.map((options) => ({
  options,
  objects: new FrameDecoder(options),
  batch: new BatchDecoder(options),
}));
const own = new Map<string, Decoders>();
/** Decoders with the options that a frame was made for. */
function decodersOf(options: DecodeOptions): Decoders {
  const key = JSON.stringify(options);
  let decoders = own.get(key);
  if (decoders === undefined) {
    decoders = { options, objects: new FrameDecoder(options), batch: new BatchDecoder(options) };
    own.set(key, decoders);
  }
  return decoders;
}
/** Ethernet without a dialect is what most input is made for. */
const COMMON = ALL.filter(({ options }) => (options.linkType ?? 'ethernet') === 'ethernet');

const START = 7;
/** The frame at byte 7, with `behind` more bytes after it; all bytes but its own are `fill`. */
function placed(input: Uint8Array, fill: number, behind: number): Uint8Array {
  const bytes = new Uint8Array(START + input.length + behind).fill(fill);
  bytes.set(input, START);
  return bytes;
}

/** Everything that a batch says, in one comparable list. */
function contents(batch: TelemetryBatch): number[] {
  const { frames, reports, hops } = batch;
  const list = [frames, reports, hops, ...batch.frameCode.subarray(0, frames)];
  for (let row = 0; row < reports; row++) {
    list.push(batch.code[row]!, batch.hopCount[row]!, batch.protocol[row]!, batch.frame[row]!, batch.flags[row]!);
    list.push(batch.nodeId[row]!, batch.sequence[row]!, batch.instructions[row]!, batch.hopStart[row]!);
    list.push(batch.ports[row]!, batch.source0[row]!, batch.destination0[row]!, batch.drop[row]!);
    const flags = batch.flags[row]!;
    if ((flags & FLAG.IPV6) !== 0) {
      list.push(batch.source1[row]!, batch.source2[row]!, batch.source3[row]!);
      list.push(batch.destination1[row]!, batch.destination2[row]!, batch.destination3[row]!);
    }
    const version = flags & FLAG.REPORT_MASK;
    if (version === 1 || version === 2) list.push(batch.reportTimestamp[row]!);
  }
  for (const name of HOP_COLUMNS) for (let row = 0; row < hops; row++) list.push(batch.hop[name][row]!);
  return list;
}

function same(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false;
  for (let k = 0; k < a.length; k++) if (a[k] !== b[k]) return false;
  return true;
}

const capacity = { frames: 1, reports: 420, hops: 4096 };
const batch = new TelemetryBatch(capacity);
const offsets = Uint32Array.of(START);
const statuses = new Map<string, number>();
const ended = new Set<number>();

function decodeIn({ batch: decoder }: Decoders, bytes: Uint8Array, length: number): number[] {
  batch.clear();
  expect(decoder.decode(batch, { bytes, offsets, lengths: Uint32Array.of(length) })).toBe(1);
  expect(batch.frames).toBe(1);
  return contents(batch);
}

/** One input under one set of options. `objects`: also the objects in two surroundings. */
function attack(decoders: Decoders, input: Uint8Array, objects: boolean): void {
  const { length } = input;
  const alone = decoders.objects.decode(input);
  expect(alone.length).toBeGreaterThan(0);
  for (const { status, error, index } of alone) {
    if (!STATUSES.includes(status)) throw new Error(`status ${status}`);
    if ((error === null) !== (status === 'ok' || status === 'not-int'))
      throw new Error(`${status} with ${error?.code}`);
    // A length that claims too much may point behind the last byte, a checksum or count never before the first.
    if (error !== null && !(error.offset >= 0 && error.offset <= length)) {
      throw new Error(`${error.code} at ${error.offset} of ${length}`);
    }
    if (index < 0 || index >= alone.length) throw new Error(`index ${index}`);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  const zeros = decodeIn(decoders, placed(input, 0, 64), length);
  const code = batch.frameCode[0]!;
  ended.add(code);
  if (CODE_STATUS[code] === undefined) throw new Error(`code ${code}`);
  const ones = decodeIn(decoders, placed(input, 0xff, 64), length);
  const end = decodeIn(decoders, placed(input, 0xff, 0), length);
  if (!same(zeros, ones)) throw new Error('the batch read what stands around the frame');
  if (!same(zeros, end)) throw new Error('the batch read what stands behind the frame');
  if (!objects) return;
  const json = alone.map(recordToJson);
  for (const fill of [0, 0xff]) {
    const around = decoders.objects.decode(placed(input, fill, 64).subarray(START, START + length));
    if (!isDeepStrictEqual(around.map(recordToJson), json))
      throw new Error('an object holds what stands around the frame');
  }
}

describe('any bytes', () => {
  test('decode to something, in every profile and link type, by the frame alone', () => {
    const random = new Random(SEED);
    const frames = corpus(SEED, 1500);
    for (let run = 0; run < RUNS; run++) {
      const original = random.pick(frames);
      const input = mutate(random, frames, original);
      const where = random.nat(8);
      const decoders = where < 5 ? decodersOf(original.options) : random.pick(where === 5 ? ALL : COMMON);
      try {
        attack(decoders, input, run % 8 === 0);
      } catch (error) {
        const { probeMarker, ...rest } = decoders.options;
        const options = JSON.stringify({ ...rest, ...(probeMarker == null ? {} : { probeMarker: `${probeMarker}` }) });
        (error as Error).message += `\nrun ${run}: ${Buffer.from(input).toString('hex')} ${options}`;
        throw error;
      }
    }
    console.log(`fuzz: ${RUNS} inputs, ${ended.size} different codes, ${JSON.stringify(Object.fromEntries(statuses))}`);
    // Sound and broken input both occur, and nearly every way to be broken.
    for (const status of STATUSES) expect(statuses.get(status)).toBeGreaterThan(RUNS / 400);
    expect(ended.size).toBeGreaterThan(RUNS < 20_000 ? 10 : 26);
  });

  test('decode to something where they are broken frames, and shrink to the smallest that does not', () => {
    fc.assert(
      fc.property(malformed(frame({ maxStackWords: 40 })), fc.nat(ALL.length - 1), (input, which) => {
        attack(ALL[which]!, input, true);
      }),
      { numRuns: runs(1500) },
    );
  });

  test('that are cut at every byte are never sound where something is missing', () => {
    const options: DecodeOptions = { reportPorts: [32766] };
    const decoder = new FrameDecoder(options);
    const frames = fc.sample(frame({ kinds: ['report'], maxStackWords: 20, options }), { numRuns: 120, seed: SEED });
    let cuts = 0;
    for (const { bytes, records: whole } of frames) {
      // A v2.0 report of 255 words or more runs to the end, wherever that is; a datagram may end between two reports.
      const words = bytes[(bytes[12] === 0x86 ? 62 : 42) + 9];
      if (bytes.length > 500 || whole.length > 1 || words === 255) continue;
      for (let length = 0; length < bytes.length; length++) {
        const records = decoder.decode(bytes.subarray(0, length));
        // The old versions have no length: where only the packet's payload is cut they are sound all the same.
        if (records.every(({ status }) => status === 'ok')) expect(records[0]!.report!.version).not.toBe('2.0');
        cuts++;
      }
    }
    expect(cuts).toBeGreaterThan(3000);
  });

  test('decode as a report or throw a CodecError', () => {
    const random = new Random(SEED + 1);
    const frames = corpus(SEED + 1, 400);
    let thrown = 0;
    for (let run = 0; run < 3000; run++) {
      const input = mutate(random, frames);
      try {
        decodeReport(input, random.pick(SETTINGS));
      } catch (error) {
        if (!CodecError.is(error)) throw error;
        if (!(error.offset >= 0 && error.offset <= input.length))
          throw new Error(`${error.message} of ${input.length}`);
        thrown++;
      }
    }
    expect(thrown).toBeGreaterThan(500);
    expect(thrown).toBeLessThan(3000);
  });
});

describe('accounting', () => {
  const random = new Random(SEED + 2);
  const frames = corpus(SEED + 2, 500);
  const inputs = Array.from({ length: 1500 }, () =>
    random.nat(3) === 0 ? random.pick(frames).bytes : mutate(random, frames),
  );
  const bytes = Uint8Array.from(inputs.flatMap((one) => [...one]));
  const lengths = Uint32Array.from(inputs, ({ length }) => length);
  const starts = new Uint32Array(inputs.length);
  for (let k = 1; k < inputs.length; k++) starts[k] = starts[k - 1]! + lengths[k - 1]!;
  const decoder = new BatchDecoder({ reportPorts: [32766] });

  test('every frame has one code, rows are in order, and hop rows follow one another', () => {
    const all = new TelemetryBatch({ frames: inputs.length, reports: 30_000, hops: 200_000 });
    all.frameCode.fill(0xee);
    expect(decoder.decode(all, { bytes, offsets: starts, lengths })).toBe(inputs.length);
    expect(all.frames).toBe(inputs.length);
    const worst = new Uint8Array(inputs.length);
    const rows = new Uint32Array(inputs.length);
    let hop = 0;
    for (let row = 0; row < all.reports; row++) {
      const index = all.frame[row]!;
      if (row > 0) expect(index).toBeGreaterThanOrEqual(all.frame[row - 1]!);
      worst[index] ||= all.code[row]!;
      rows[index]!++;
      expect(all.hopStart[row]).toBe(hop);
      hop += all.hopCount[row]!;
    }
    expect(hop).toBe(all.hops);
    let without = 0;
    for (let index = 0; index < inputs.length; index++) {
      const code = all.frameCode[index]!;
      expect(CODE_STATUS[code]).toBeDefined();
      // Without a row there is a reason; with rows the frame's code is that of the first that is not sound.
      if (rows[index] === 0) {
        expect(code).not.toBe(CODES.OK);
        without++;
      } else expect(code).toBe(worst[index]);
    }
    expect(without).toBeGreaterThan(100);
  });

  test('a batch that is filled, read and cleared many times gives the same rows as a large one', () => {
    const all = new TelemetryBatch({ frames: inputs.length, reports: 30_000, hops: 200_000 });
    decoder.decode(all, { bytes, offsets: starts, lengths });
    const small = new TelemetryBatch({ frames: 16, reports: 400, hops: 1600 });
    let from = 0;
    let reports = 0;
    let hops = 0;
    while (from < inputs.length) {
      small.clear();
      const next = decoder.decode(small, { bytes, offsets: starts, lengths }, from);
      expect(next).toBeGreaterThan(from);
      expect(small.frames).toBe(next - from);
      for (let k = 0; k < small.frames; k++) expect(small.frameCode[k]).toBe(all.frameCode[from + k]);
      for (let row = 0; row < small.reports; row++) {
        for (const name of [
          'code',
          'hopCount',
          'protocol',
          'flags',
          'nodeId',
          'sequence',
          'instructions',
          'ports',
          'drop',
        ] as const) {
          if (small[name][row] !== all[name][reports + row])
            expect(`${name}[${row}] from frame ${from}`).toBe('the same');
        }
        expect(from + small.frame[row]!).toBe(all.frame[reports + row]);
      }
      for (const name of HOP_COLUMNS) {
        for (let row = 0; row < small.hops; row++) {
          if (small.hop[name][row] !== all.hop[name][hops + row])
            expect(`${name}[${row}] from frame ${from}`).toBe('the same');
        }
      }
      reports += small.reports;
      hops += small.hops;
      from = next;
    }
    expect([reports, hops]).toEqual([all.reports, all.hops]);
  });

  test('a datagram with more reports than a batch has rows is noted, and the next one is read', () => {
    const many = Uint8Array.from([0x20, 0, 0, 1, 0, 0, 0, 9, ...Array.from({ length: 40 }, () => 0)]);
    const two = Uint8Array.from([...many, ...many]);
    const reader = new BatchDecoder({ linkType: 'report' });
    const one = new TelemetryBatch({ frames: 4, reports: 3, hops: 256 });
    const length = many.length;
    expect(
      reader.decode(one, { bytes: two, offsets: Uint32Array.of(0, length), lengths: Uint32Array.of(length, 12) }),
    ).toBe(1);
    expect([one.frameCode[0], one.reports]).toEqual([CODES.BATCH_TOO_SMALL, 3]);
    one.clear();
    expect(
      reader.decode(one, { bytes: two, offsets: Uint32Array.of(0, length), lengths: Uint32Array.of(length, 12) }, 1),
    ).toBe(2);
    expect([one.frameCode[0], one.reports]).toEqual([CODES.OK, 1]);
  });

  test('a hop count that its column cannot hold is refused', () => {
    // A report v1.0 with hop latency around the eight-field format of int-afxdp-kafka: one word a hop.
    const packet = (hops: number): Uint8Array => {
      const bytes = new Uint8Array(20 + 14 + 40 + 12 + 4 * hops);
      bytes.set([0x15, 0x08, 0, 0, 0, 0, 0, 7]);
      bytes.set([8, 0, 0x45, 0x5c], 32);
      bytes[43] = 6;
      bytes[66] = 0x50;
      bytes.set([1, 0, 0, 0, 0, 1, hops, hops, 0x80], 74);
      return bytes;
    };
    const reader = new BatchDecoder({ linkType: 'report', profile: 'int-afxdp-kafka' });
    const one = new TelemetryBatch({ frames: 1, hops: 600 });
    for (const [hops, code, rows] of [
      [254, CODES.OK, 255],
      [255, CODES.BAD_HOP_COUNT, 1],
    ] as const) {
      one.clear();
      const input = packet(hops);
      reader.decode(one, { bytes: input, offsets: Uint32Array.of(0), lengths: Uint32Array.of(input.length) });
      expect([one.frameCode[0], one.hopCount[0], one.hops]).toEqual([code, rows, rows]);
    }
  });

  test('frames that do not lie in the buffer are noted, whatever the numbers', () => {
    const wrong = Uint32Array.of(0, 1, 100, 0xffffffff, 0x7fffffff, 0);
    const sizes = Uint32Array.of(101, 100, 1, 1, 0x7fffffff, 0xffffffff);
    for (const options of SETTINGS) {
      const one = new TelemetryBatch({ frames: 6, hops: 256 });
      expect(
        new BatchDecoder(options).decode(one, { bytes: new Uint8Array(100), offsets: wrong, lengths: sizes }),
      ).toBe(6);
      expect([...one.frameCode.subarray(0, 6)]).toEqual(Array.from({ length: 6 }, () => CODES.BAD_RANGE));
    }
  });
});
