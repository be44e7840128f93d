import { HEADER } from '../layout.js';
import type { DartStore } from '../store/dart-store.js';

/** Writes the epoch's number and counts of writes into the header. */
export function setEpoch(store: DartStore, epoch: bigint, keyWrites: number, slotWrites: number): void {
  const { header } = store.segments[0]!;
  const words = (at: number, value: bigint): void => {
    header[at] = Number(value & 0xffffffffn);
    header[at + 1] = Number(value >> 32n);
  };
  words(HEADER.EPOCH, epoch);
  words(HEADER.KEY_WRITES, BigInt(keyWrites));
  words(HEADER.SLOT_WRITES, BigInt(slotWrites));
}
