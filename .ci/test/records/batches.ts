/** Batches for tests of what is made of them: decoded from generated frames, and with arbitrary words in the columns. */
import { frame } from '@int/arbitraries';
import {
  BatchDecoder,
  CODES,
  FIELDS,
  FLAG,
  type Frames,
  HOP_COLUMNS,
  NOT_AVAILABLE,
  STATE,
  TelemetryBatch,
} from '@int/codec';
import { reportRecord } from '@int/collector';
import * as fc from 'fast-check';

export interface MadeBatch {
  readonly batch: TelemetryBatch;
  /** For messages of fast-check: the reports, not the memory they are in. */
  readonly [fc.toStringMethod]: () => string;
}

function made(batch: TelemetryBatch): MadeBatch {
  const text = (): string =>
    Array.from({ length: batch.reports }, (_, row) =>
      JSON.stringify({ code: batch.code[row], ...reportRecord(batch, row, 'id') }),
    ).join('\n');
  return { batch, [fc.toStringMethod]: text };
}

const word = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.nat(20_000),
  fc.constantFrom(0, 1, 127, 128, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, NOT_AVAILABLE),
);

/** Frames of the given bytes, at arbitrary times. */
function framesOf(bytes: readonly Uint8Array[], times: readonly (readonly [number, number])[]): Frames {
  const offsets: number[] = [];
  let used = 0;
  for (const one of bytes) {
    offsets.push(used);
    used += one.length;
  }
  const all = new Uint8Array(used);
  bytes.forEach((one, index) => {
    all.set(one, offsets[index]);
  });
  return {
    bytes: all,
    offsets: Uint32Array.from(offsets),
    lengths: Uint32Array.from(bytes, (one) => one.length),
    timestampsHigh: Uint32Array.from(times, ([high]) => high),
    timestampsLow: Uint32Array.from(times, ([, low]) => low),
  };
}

/** A batch as decoding gives it. */
const decodedBatch: fc.Arbitrary<MadeBatch> = fc
  .array(fc.tuple(frame(), word, word), { minLength: 1, maxLength: 4 })
  .map((generated) => {
    // All of a batch are decoded alike: with the options of the first.
    const options = { ...generated[0]![0].options, linkType: 'ethernet' as const };
    const frames = framesOf(
      generated.map(([{ bytes }]) => bytes),
      generated.map(([, high, low]) => [high, low] as const),
    );
    const batch = new TelemetryBatch({ frames: 8, reports: 64, hops: 2048 });
    new BatchDecoder(options).decode(batch, frames);
    return made(batch);
  });

/** A batch with arbitrary values in its columns, whether decoding gives them together or not. */
const wildBatch: fc.Arbitrary<MadeBatch> = fc
  .record({
    rows: fc.array(
      fc.record({
        code: fc.constantFrom<number>(CODES.OK, CODES.OK, CODES.OK, CODES.TRUNCATED),
        hops: fc.oneof(fc.nat(4), fc.constant(0)),
        own: fc.boolean(),
        flags: fc.integer({ min: 0, max: 0xffffffff }),
        protocol: fc.nat(255),
        words: fc.array(word, { minLength: 18, maxLength: 18 }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    hops: fc.array(fc.oneof({ arbitrary: word, weight: 1 }, { arbitrary: fc.constant(NOT_AVAILABLE), weight: 1 }), {
      minLength: 61,
      maxLength: 61,
    }),
    times: fc.array(fc.tuple(word, word), { minLength: 4, maxLength: 4 }),
  })
  .map(({ rows, hops, times }) => {
    const batch = new TelemetryBatch({ frames: 4, reports: 4, hops: 256 });
    let hop = 0;
    rows.forEach(({ code, hops: embedded, own, flags, protocol, words }, row) => {
      words.forEach((value, column) => {
        batch.reportWords[column * batch.reportStride + row] = value;
      });
      batch.code[row] = code;
      batch.protocol[row] = protocol;
      batch.frame[row] = row;
      batch.hopStart[row] = hop;
      const hasOwn = own && (flags & FLAG.REPORT_MASK) !== 0;
      batch.flags[row] = (flags & ~FLAG.OWN) | (hasOwn ? FLAG.OWN : 0);
      batch.hopCount[row] = embedded + (hasOwn ? 1 : 0);
      hop += batch.hopCount[row]!;
    });
    HOP_COLUMNS.forEach((name, column) => {
      // None larger than a switch can say.
      const most = FIELDS.find((field) => field.name === name)?.most ?? NOT_AVAILABLE;
      for (let row = 0; row < hop; row++) {
        const value = hops[(column * 20 + row) % hops.length]!;
        batch.hop[name][row] = value === NOT_AVAILABLE ? value : value % (most + 1);
      }
    });
    batch.state[STATE.FRAMES] = rows.length;
    batch.state[STATE.REPORTS] = rows.length;
    batch.state[STATE.HOPS] = hop;
    batch.state[STATE.WRITTEN] = (1 << HOP_COLUMNS.length) - 1;
    batch.state[STATE.DROPS] = 1;
    batch.isTimed = true;
    times.forEach(([high, low], frame) => {
      batch.frameTimeHigh[frame] = high;
      batch.frameTimeLow[frame] = low;
    });
    return made(batch);
  });

export const anyBatch: fc.Arbitrary<MadeBatch> = fc.oneof(decodedBatch, wildBatch);
