import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import {
  AnswerRows,
  DartReader,
  DartStore,
  type DartStoreOptions,
  fixedKeyRows,
  type Policy,
} from '../../../src/index.js';
import { STATUS_NAMES } from '../../../src/store/rows.js';
import { SEED } from '../../seed.js';
import { ModelStore } from '../../store/model.js';

const POLICIES: readonly Policy[] = ['single', 'plurality', { consensus: 2 }, { consensus: 3 }];
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Few slots, short checksums and few values: collisions of every kind are frequent. */
const options = fc.record({
  slots: fc.oneof(fc.integer({ min: 1, max: 90 }), fc.constantFrom(1, 64, 128)),
  valueBytes: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant(20)),
  checksumBits: fc.oneof(fc.integer({ min: 8, max: 32 }), fc.constantFrom(8, 16, 32)),
  copies: fc.integer({ min: 1, max: 8 }),
  hash: fc.constantFrom('xxhash', 'crc'),
  seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  shared: fc.boolean(),
  engine: fc.constantFrom('auto', 'plain'),
  // With values of 20 bytes, 4096 bytes hold one page of 64 slots: several segments.
  segmentBytes: fc.constantFrom(4096, 2 ** 20),
}) satisfies fc.Arbitrary<DartStoreOptions>;

const step = fc.record({
  kind: fc.constantFrom('write', 'writeCopy', 'first', 'rdma', 'clear'),
  key: fc.oneof(
    fc.integer({ min: 0, max: 40 }).map((id) => Uint8Array.of(id)),
    fc.integer({ min: 0, max: 40 }).map((id) => new Uint8Array(13).fill(id)),
    fc.uint8Array({ maxLength: 40 }),
  ),
  value: fc.integer({ min: 0, max: 2 }),
  copy: fc.nat(7),
});

describe('a store', () => {
  it('holds and answers what an array of slots does, whatever its geometry and engine', () => {
    fc.assert(
      fc.property(options, fc.array(step, { maxLength: 120 }), (chosen, steps) => {
        const store = new DartStore(chosen);
        const { geometry, hashes } = store;
        const model = new ModelStore({ ...geometry, family: chosen.hash, parameters: hashes.parameters });
        const reader = chosen.shared ? new DartReader(store.share()) : null;
        const all = Array.from({ length: geometry.copies }, (_, copy) => copy);
        let emptied = 0;
        for (const { kind, key, value, copy } of steps) {
          const bytes = new Uint8Array(geometry.valueBytes).fill(value);
          const one = copy % geometry.copies;
          if (kind === 'write') {
            store.write(key, bytes);
            model.write(key, hex(bytes), all);
          } else if (kind === 'first') {
            store.write(key, bytes, one + 1);
            model.write(key, hex(bytes), all.slice(0, one + 1));
          } else if (kind === 'writeCopy') {
            store.writeCopy(key, bytes, one);
            model.write(key, hex(bytes), [one]);
          } else if (kind === 'rdma') {
            const checksum = store.checksumOf(key).toString(16);
            const slot = Buffer.from(checksum.padStart(geometry.checksumBytes * 2, '0') + hex(bytes), 'hex');
            store.writeBytes(store.slotOf(key, one) * geometry.slotBytes, slot, 0, slot.length);
            model.write(key, hex(bytes), [one]);
          } else if (value === 0) {
            store.clear();
            model.slots.fill(undefined);
            emptied++;
          }
        }
        expect(store.epoch).toBe(BigInt(emptied));
        for (const { begun, done } of store.segments) expect([...begun]).toEqual([...done]);
        const pieces = store.pieces.map(hex).join('');
        const expected = Array.from(model.slots, (slot) =>
          slot === undefined
            ? '00'.repeat(geometry.slotBytes)
            : slot.checksum.toString(16).padStart(geometry.checksumBytes * 2, '0') + slot.value,
        );
        expect(pieces).toBe(expected.join(''));
        for (const { key } of steps) {
          for (const policy of POLICIES) {
            const answer = store.query(key, policy);
            expect({ ...answer, value: answer.value && hex(answer.value) }).toEqual(model.query(key, policy));
            if (reader !== null) expect(reader.query(key, policy)).toEqual(answer);
          }
        }
      }),
      { seed: SEED, numRuns: runs(150) },
    );
  });

  it('writes and answers many rows as it does one after the other', () => {
    fc.assert(
      fc.property(options, fc.array(fc.tuple(fc.nat(60), fc.nat(3), fc.nat(7)), { maxLength: 400 }), (chosen, rows) => {
        const [one, many] = [new DartStore(chosen), new DartStore(chosen)];
        const { valueBytes, copies } = one.geometry;
        const keys = fixedKeyRows(Uint8Array.from(rows.flatMap(([id]) => new Array<number>(13).fill(id))), 13);
        const values = Uint8Array.from(rows.flatMap(([, value]) => new Array<number>(valueBytes).fill(value)));
        const which = Uint8Array.from(rows, ([, , copy]) => copy % copies);
        many.writeRows(keys, values);
        many.writeCopyRows(keys, values, which);
        const key = (row: number): Uint8Array => keys.bytes.subarray(row * 13, row * 13 + 13);
        const value = (row: number): Uint8Array => values.subarray(row * valueBytes, (row + 1) * valueBytes);
        rows.forEach((_, row) => {
          one.write(key(row), value(row));
        });
        rows.forEach((_, row) => {
          one.writeCopy(key(row), value(row), which[row]!);
        });
        expect(many.pieces.map(hex)).toEqual(one.pieces.map(hex));
        expect([many.keyWrites, many.slotWrites]).toEqual([one.keyWrites, one.slotWrites]);
        const out = new AnswerRows(rows.length, valueBytes);
        for (const policy of POLICIES) {
          many.queryRows(keys, out, policy);
          rows.forEach((_, row) => {
            const { status, value: found, matching, agreeing } = one.query(key(row), policy);
            expect([STATUS_NAMES[out.status[row]!], out.matching[row], out.agreeing[row]]).toEqual([
              status,
              matching,
              agreeing,
            ]);
            if (found !== null) expect(out.values.subarray(row * valueBytes, (row + 1) * valueBytes)).toEqual(found);
          });
        }
      }),
      { seed: SEED, numRuns: runs(40) },
    );
  });

  it('counts what it wrote, and tells its load', () => {
    const store = new DartStore({ slots: 1000, copies: 4 });
    const value = new Uint8Array(20);
    store.write(Uint8Array.of(1), value);
    store.writeCopy(Uint8Array.of(2), value, 3);
    store.write(Uint8Array.of(3), value, 2);
    expect([store.keyWrites, store.slotWrites, store.load]).toEqual([3, 7, 7 / 4 / 1000]);
    store.clear(77n);
    expect([store.keyWrites, store.slotWrites, store.epoch]).toEqual([0, 0, 77n]);
    expect(store.query(Uint8Array.of(1)).status).toBe('absent');
  });
});

describe('insertion by COMPARE&SWAP', () => {
  it('writes the first slot always and the second if it is empty', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 40 }), fc.array(fc.nat(30), { maxLength: 60 }), (slots, ids) => {
        const store = new DartStore({ slots, valueBytes: 4, copies: 2 });
        const model = new Map<number, string>();
        for (const [index, id] of ids.entries()) {
          const key = Uint8Array.of(id);
          const value = Uint8Array.of(9, index, 0, 0);
          const slot = hex(Uint8Array.of(...new Uint8Array(4), ...value)).replace(
            /^0{8}/,
            store.checksumOf(key).toString(16).padStart(8, '0'),
          );
          model.set(store.slotOf(key, 0), slot);
          const isEmpty = !model.has(store.slotOf(key, 1));
          if (isEmpty) model.set(store.slotOf(key, 1), slot);
          expect(store.insert(key, value)).toBe(isEmpty);
        }
        const expected = Array.from({ length: slots }, (_, at) => model.get(at) ?? '0'.repeat(16));
        expect(store.pieces.map(hex).join('')).toBe(expected.join(''));
      }),
      { seed: SEED, numRuns: runs(100) },
    );
  });

  it('needs slots of 8 bytes', () => {
    expect(() => new DartStore({ slots: 8 }).insert(Uint8Array.of(1), new Uint8Array(20))).toThrow(TypeError);
  });
});

describe('what callers get wrong', () => {
  const store = new DartStore({ slots: 10, valueBytes: 4, copies: 2 });
  const key = Uint8Array.of(1);
  const before = hex(store.pieces[0]!);
  const wrong: [string, () => unknown][] = [
    ['a value of another size', () => store.write(key, new Uint8Array(5))],
    ['a copy out of range', () => store.writeCopy(key, new Uint8Array(4), 2)],
    ['too many copies', () => store.write(key, new Uint8Array(4), 3)],
    ['no copies', () => store.write(key, new Uint8Array(4), 0)],
    ['a key too long', () => store.write(new Uint8Array(65_536), new Uint8Array(4))],
    [
      'keys outside their bytes',
      () => store.writeRows({ bytes: key, offsets: Uint32Array.of(1), lengths: Uint32Array.of(1) }, new Uint8Array(4)),
    ],
    ['rows that are not there', () => store.writeRows(fixedKeyRows(key, 1), new Uint8Array(8), 0, 2)],
    ['values that are not there', () => store.writeRows(fixedKeyRows(Uint8Array.of(1, 2), 1), new Uint8Array(7))],
    ['a consensus of nobody', () => store.query(key, { consensus: 0 })],
    ['answers without room', () => store.queryRows(fixedKeyRows(key, 1), new AnswerRows(0, 4))],
    ['answers of another size', () => store.queryRows(fixedKeyRows(key, 1), new AnswerRows(1, 5))],
    ['RDMA before the slots', () => store.writeBytes(-1, new Uint8Array(8), 0, 4)],
    ['RDMA beyond the slots', () => store.writeBytes(77, new Uint8Array(8), 0, 4)],
    ['an atomic at an odd place', () => store.fetchAdd(4, 1n)],
    ['neither slots nor memory', () => new DartStore({})],
    ['no slots', () => new DartStore({ slots: 0 })],
    ['nine copies', () => new DartStore({ slots: 9, copies: 9 })],
    ['a checksum of 7 bits', () => new DartStore({ slots: 9, checksumBits: 7 })],
    ['a collector that is not there', () => new DartStore({ slots: 9, collectors: 2, collector: 2 })],
    ['too small a buffer', () => new DartStore({ slots: 9, buffers: [new ArrayBuffer(64)] })],
    ['segments without room for a page', () => new DartStore({ slots: 9, valueBytes: 1024, segmentBytes: 4096 })],
  ];
  it.each(wrong)('%s: a RangeError, and nothing is written', (_, call) => {
    expect(call).toThrow(RangeError);
    expect(hex(store.pieces[0]!)).toBe(before);
  });
});
