import * as fc from 'fast-check';
import { MIN_SLAB_BYTES } from '../../src/message/slab.js';
import { Parcel } from '../../src/parcel.js';

/** A message as a test has it. */
export interface Message {
  readonly kind: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly hash: number;
  readonly timeMs: number;
}

export const message: fc.Arbitrary<Message> = fc.record({
  kind: fc.nat(2),
  key: fc.uint8Array({ minLength: 4, maxLength: 37 }),
  value: fc.uint8Array({ maxLength: 200 }),
  hash: fc.nat(0x7fffffff),
  timeMs: fc.nat(2 ** 40),
});

/** A parcel with messages, none of them settled. */
export function parcelOf(messages: readonly Message[]): Parcel {
  const parcel = new Parcel({ messages: Math.max(1, messages.length), bytes: MIN_SLAB_BYTES });
  const { slab } = parcel;
  messages.forEach(({ hash, key, kind, timeMs, value }, row) => {
    slab.kind[row] = kind;
    slab.keyStart[row] = slab.used;
    slab.keyEnd[row] = slab.used + key.length;
    slab.valueStart[row] = slab.keyEnd[row]!;
    slab.valueEnd[row] = slab.valueStart[row]! + value.length;
    slab.bytes.set(key, slab.keyStart[row]!);
    slab.bytes.set(value, slab.valueStart[row]!);
    slab.partitionHash[row] = hash;
    slab.timeMs[row] = timeMs;
    slab.used = slab.valueEnd[row]!;
    slab.count += 1;
  });
  parcel.begin();
  return parcel;
}

/** What {@link parcelOf} was given. */
export function messagesOf({ slab }: Parcel): Message[] {
  return Array.from({ length: slab.count }, (_, row) => ({
    kind: slab.kind[row]!,
    key: slab.key(row).slice(),
    value: slab.value(row).slice(),
    hash: slab.partitionHash[row]!,
    timeMs: slab.timeMs[row]!,
  }));
}

/** A parcel of messages that are numbers, of kind 0. */
export function numbered(from: number, count: number, bytes = 16): Parcel {
  return parcelOf(
    Array.from({ length: count }, (_, index) => {
      const value = new Uint8Array(bytes);
      new DataView(value.buffer).setUint32(0, from + index);
      return { kind: 0, key: Uint8Array.of(1, 2, 3, 4), value, hash: index, timeMs: from + index };
    }),
  );
}

/** The numbers of a parcel of {@link numbered}. */
export function numbersOf(parcel: Parcel): number[] {
  return messagesOf(parcel).map(({ value }) => new DataView(value.buffer).getUint32(0));
}
