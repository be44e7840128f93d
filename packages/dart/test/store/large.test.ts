import { AnswerRows, DartReader, DartStore, fixedKeyRows, STATUS } from '@int/dart';
import { expect, it } from 'vitest';

it('a store of more than 4 GiB has several segments, and is written and read across them', () => {
  // Address space: pages that nobody writes take no memory.
  const store = new DartStore({ memoryBytes: 5 * 2 ** 30, copies: 4, shared: true });
  const { slots, slotBytes, segments } = store.geometry;
  expect(segments.length).toBe(2);
  expect(store.byteLength).toBe(slots * slotBytes);
  expect(store.byteLength).toBeGreaterThan(2 ** 32);
  const rows = 2000;
  const keys = fixedKeyRows(
    new Uint8Array(rows * 13).map((_, at) => (at % 13 === 0 ? at / 13 : at % 13 === 1 ? at / 13 / 256 : 7)),
    13,
  );
  const values = new Uint8Array(rows * 20).map((_, at) => at / 20);
  store.writeRows(keys, values);
  const used = [0, 0];
  for (let row = 0; row < rows; row++) {
    for (let copy = 0; copy < 4; copy++) {
      const slot = store.slotOf(keys.bytes.subarray(row * 13, row * 13 + 13), copy);
      used[slot < segments[1]!.firstSlot ? 0 : 1]!++;
    }
  }
  expect(Math.min(...used)).toBeGreaterThan(1000);
  const answers = new AnswerRows(rows, 20);
  for (const reads of [store, new DartReader(store.share())]) {
    reads.queryRows(keys, answers, { consensus: 4 });
    expect(answers.status.every((status) => status === STATUS.VALUE)).toBe(true);
    expect(Buffer.compare(answers.values, values)).toBe(0);
  }
  // RDMA sees one run of bytes.
  const seam = segments[1]!.firstSlot * slotBytes;
  store.writeBytes(seam - 20, new Uint8Array(40).fill(9), 0, 40);
  expect([...store.pieces[0]!.subarray(-20), ...store.pieces[1]!.subarray(0, 20)]).toEqual(new Array(40).fill(9));
  store.fetchAdd(store.byteLength - (store.byteLength % 8) - 8, 5n);
  expect(() => store.writeBytes(store.byteLength - 1, new Uint8Array(2), 0, 2)).toThrow(RangeError);
});
