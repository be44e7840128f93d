import { hashParameters, KeyHashes, simulatedKey } from '@int/dart/internals';
import { crc32 } from '@int/hash';
import { describe, expect, it } from 'vitest';

const SEED = Number(process.env.INT_SEED ?? 20210801) >>> 0;
const COPIES = 4;

/** Pseudo-random 5-tuples; and one server after another, each with 2^14 connections from ports that rise. */
const KEYS = {
  random: (id: number): Uint8Array => simulatedKey(id, SEED),
  sequential(id: number): Uint8Array {
    const key = new DataView(new ArrayBuffer(13));
    key.setUint32(0, 0x0a000000 + (id >>> 14));
    key.setUint32(4, 0x0a800001);
    key.setUint8(8, 6);
    key.setUint16(9, 49152 + (id & 0x3fff));
    key.setUint16(11, 443);
    return new Uint8Array(key.buffer);
  },
};

/** Pairs of equal numbers. */
function equalPairs(numbers: Float64Array): number {
  const sorted = numbers.slice().sort();
  let pairs = 0;
  for (let at = 1, run = 0; at < sorted.length; at++) {
    run = sorted[at] === sorted[at - 1] ? run + 1 : 0;
    pairs += run;
  }
  return pairs;
}

function hashColumns(family: 'xxhash' | 'crc', kind: keyof typeof KEYS, keys: number): Uint32Array[] {
  const hashes = new KeyHashes(hashParameters(family, 0));
  const columns = Array.from({ length: COPIES + 1 }, () => new Uint32Array(keys));
  const slots = new Uint32Array(COPIES);
  for (let id = 0; id < keys; id++) {
    columns[COPIES]![id] = hashes.all(KEYS[kind](id), 0, 13, COPIES, slots);
    for (let copy = 0; copy < COPIES; copy++) columns[copy]![id] = slots[copy]!;
  }
  return columns;
}

describe('the hashes of a key', () => {
  for (const family of ['xxhash', 'crc'] as const) {
    for (const kind of ['random', 'sequential'] as const) {
      it(`are independent: pairs of ${kind} keys meet in two slots no more often than by chance (${family})`, () => {
        const keys = 1 << 15;
        const columns = hashColumns(family, kind, keys);
        for (const slots of [1024, 1000]) {
          const expected = (keys * (keys - 1)) / 2 / slots ** 2;
          const far: string[] = [];
          for (let one = 0; one < COPIES; one++) {
            for (let other = one + 1; other < COPIES; other++) {
              const both = new Float64Array(keys);
              for (let id = 0; id < keys; id++) {
                both[id] = (columns[one]![id]! % slots) * slots + (columns[other]![id]! % slots);
              }
              const pairs = equalPairs(both);
              // Linear hashes of consecutive keys may well meet less often than random ones: only more is bad.
              const away = (pairs - expected) / Math.sqrt(expected);
              if (away > 4.5 || (kind === 'random' && away < -4.5))
                far.push(`${slots}: ${one} ${other}: ${pairs}, not ${expected}`);
            }
          }
          expect(far).toEqual([]);
        }
      });
    }

    it(`are independent in all 32 bits: keys of one checksum do not share slots (${family})`, () => {
      // About 120 pairs share a checksum; that one of them also shares any of four 32-bit hashes has probability 1e-7.
      const columns = hashColumns(family, 'random', 1_000_000);
      const checksums = columns[COPIES]!;
      const order = Uint32Array.from(checksums, (_, id) => id);
      order.sort((a, b) => checksums[a]! - checksums[b]!);
      let [pairs, joint] = [0, 0];
      for (let at = 1; at < order.length; at++) {
        const [one, other] = [order[at - 1]!, order[at]!];
        if (checksums[one] !== checksums[other]) continue;
        pairs++;
        for (let copy = 0; copy < COPIES; copy++) if (columns[copy]![one] === columns[copy]![other]) joint++;
      }
      expect(pairs).toBeGreaterThan(60);
      expect(joint).toBe(0);
    });
  }

  it('could not be one CRC with the number of the copy in front: two copies would find less than one', () => {
    // A power of two: the lower bits of crc(copy, key) are those of crc(key), exclusive-or a constant of the copy.
    const [keys, slots] = [8192, 8192];
    const success = (copies: number): number => {
      const bytes = new Uint8Array(14);
      const place = (id: number, copy: number): number => {
        bytes[0] = copy;
        bytes.set(simulatedKey(id, SEED), 1);
        return crc32(bytes, 0, 14) % slots;
      };
      const table = new Uint32Array(slots);
      for (let id = 0; id < keys; id++) for (let copy = 0; copy < copies; copy++) table[place(id, copy)] = id + 1;
      let found = 0;
      for (let id = 0; id < keys; id++) {
        for (let copy = 0; copy < copies; copy++) {
          if (table[place(id, copy)] !== id + 1) continue;
          found++;
          break;
        }
      }
      return found / keys;
    };
    expect(success(2)).toBeLessThan(success(1) - 0.02);
  });
});
