import { COMPACT, EXACT, FlowCache, FlowCacheError, type FlowCacheErrorCode, SnapshotReader } from '@int/flowcache';
import { HEADER, METRIC_WORDS } from '@int/flowcache/internals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LENGTH, runs } from '../../../../.ci/test/length.js';
import { checkAccounts } from '../accounting/accounts.js';
import { SEED } from '../seed.js';
import { busyCache, restore, Traffic } from './caches.js';
import {
  HEADER_BYTES,
  joined,
  MARK_BYTES,
  type Pieces,
  putTogether,
  sealed,
  setWord,
  snapshotOf,
  takeApart,
  wordOf,
  words,
} from './pieces.js';

const SIZE = { rows: 4, buckets: 4, hops: 3, accelerator: false } as const;
/** Some rows have empty buckets. */
const CACHES = {
  exact: busyCache({ ...SIZE, layout: 'exact' }, 11, 200),
  compact: busyCache({ ...SIZE, layout: 'compact' }, 20, 200),
} as const;
const BYTES = { exact: snapshotOf(CACHES.exact), compact: snapshotOf(CACHES.compact) } as const;
const layouts = fc.constantFrom('exact', 'compact');

/** What reading bytes throws, or the cache. */
function read(parts: readonly Uint8Array[]): FlowCache | FlowCacheError {
  try {
    return restore(parts, { accelerator: false });
  } catch (error) {
    // Nothing else is ever thrown.
    expect(error).toBeInstanceOf(FlowCacheError);
    return error as FlowCacheError;
  }
}

function expectError(result: FlowCache | FlowCacheError, code?: FlowCacheErrorCode): FlowCacheError {
  expect(FlowCacheError.is(result)).toBe(true);
  const error = result as FlowCacheError;
  if (code !== undefined) expect(error.code).toBe(code);
  return error;
}

type Damage = (bytes: Uint8Array) => Uint8Array;
/** A place in bytes of any length. */
const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const damage: fc.Arbitrary<Damage> = fc.oneof(
  // Bits that are flipped.
  fc
    .array(fc.tuple(place, fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 5 })
    .map((flips) => (bytes: Uint8Array) => {
      const copy = bytes.slice();
      for (const [at, mask] of flips) copy[Math.floor(at * copy.length)]! ^= mask;
      return copy;
    }),
  // Words that are replaced.
  fc.tuple(place, fc.oneof(fc.nat(0xffffffff), fc.nat(70))).map(([at, value]) => (bytes: Uint8Array) => {
    const copy = bytes.slice();
    setWord(copy, Math.floor((at * copy.length) / 4), value);
    return copy;
  }),
  // A piece that is missing, or there twice, or bytes that are not from here.
  fc.tuple(place, place).map(([from, length]) => (bytes: Uint8Array) => {
    const first = Math.floor(from * bytes.length);
    const end = first + 1 + Math.floor(length * (bytes.length - first - 1));
    return joined([bytes.subarray(0, first), bytes.subarray(end)]);
  }),
  fc.tuple(place, fc.integer({ min: 1, max: 500 })).map(([from, length]) => (bytes: Uint8Array) => {
    const first = Math.floor(from * bytes.length);
    return joined([bytes.subarray(0, first + length), bytes.subarray(first)]);
  }),
  fc.tuple(place, fc.uint8Array({ minLength: 1, maxLength: 50 })).map(([at, more]) => (bytes: Uint8Array) => {
    const first = Math.floor(at * bytes.length);
    return joined([bytes.subarray(0, first), more, bytes.subarray(first)]);
  }),
);

/** Damages the pieces of a snapshot on purpose; `null` where there is nothing of the kind. */
type Edit = (pieces: Pieces) => void;

/** The cache works: it can be read, updated and emptied. */
function expectSound(cache: FlowCache): void {
  const held = cache.size;
  checkAccounts(cache, held);
  new Traffic(30).send([cache], 60);
  checkAccounts(cache, held);
  cache.drain();
  expect(cache.size).toBe(0);
}

describe('a damaged snapshot', () => {
  test('is never taken for a whole one', () => {
    fc.assert(
      fc.property(layouts, damage, fc.integer({ min: 1, max: 3000 }), (layout, apply, size) => {
        const bytes = apply(BYTES[layout]);
        fc.pre(Buffer.compare(bytes, BYTES[layout]) !== 0);
        const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        );
        const error = expectError(read(parts));
        expect(error.offset === null || (error.offset >= 0 && error.offset <= bytes.length)).toBe(true);
      }),
      { seed: SEED, numRuns: runs(1500) },
    );
  });

  test('is too short wherever it is cut off', () => {
    for (const bytes of Object.values(BYTES)) {
      // At all bytes of the header and of the end, and at some between.
      for (let length = 0; length < bytes.length; length += length < 600 || length > bytes.length - 30 ? 1 : 13) {
        expectError(read([bytes.subarray(0, length)]), 'ERR_SNAPSHOT_TRUNCATED');
      }
    }
  });

  test('goes on behind its end', () => {
    for (const more of [Uint8Array.of(0), BYTES.exact, BYTES.compact]) {
      expectError(read([BYTES.exact, more]), 'ERR_SNAPSHOT_TRAILING');
      const error = expectError(read([joined([BYTES.exact, more])]), 'ERR_SNAPSHOT_TRAILING');
      expect(error.offset).toBe(BYTES.exact.length);
    }
    expect(read([BYTES.exact, new Uint8Array(0)])).toBeInstanceOf(FlowCache);
  });

  test('with checksums that are right is refused, or makes a cache that works', () => {
    let refused = 0;
    let taken = 0;
    fc.assert(
      fc.property(layouts, damage, (layout, apply) => {
        const whole = BYTES[layout];
        // The header stays: it says how much memory to take.
        const rest = apply(whole.subarray(HEADER_BYTES + 4));
        const result = read([sealed(joined([whole.subarray(0, HEADER_BYTES + 4), rest]))]);
        if (result instanceof FlowCache) {
          taken++;
          expectSound(result);
        } else refused++;
      }),
      { seed: SEED, numRuns: runs(1500) },
    );
    expect(Math.min(refused, taken)).toBeGreaterThan(20 * LENGTH);
  });

  test('with another header and checksums that are right is refused, or makes a cache that works', () => {
    fc.assert(
      fc.property(
        layouts,
        fc.nat(127),
        fc.oneof(fc.nat(64), fc.constantFrom(0xffffffff, 0x80000000)),
        (layout, word, value) => {
          const copy = BYTES[layout].slice();
          fc.pre(wordOf(copy, 2 + word) !== value);
          setWord(copy, 2 + word, value);
          const result = read([sealed(copy)]);
          if (result instanceof FlowCache) expectSound(result);
          else if (word === HEADER.MAGIC || word === HEADER.VERSION) expect(result.code).toBe('ERR_FLOW_CACHE_HEADER');
        },
      ),
      { seed: SEED, numRuns: runs(1000) },
    );
  });

  test('makes every further call throw the same', () => {
    const failures: readonly Uint8Array[] = [
      sealed(BYTES.exact.map((byte, at) => (at === HEADER_BYTES + 8 ? byte ^ 0x70 : byte))),
      joined([BYTES.exact, BYTES.exact]),
      BYTES.exact.map((byte, at) => (at === BYTES.exact.length - 1 ? byte ^ 1 : byte)),
    ];
    for (const bytes of failures) {
      const reader = new SnapshotReader();
      const errors: unknown[] = [];
      for (const attempt of [
        () => reader.push(bytes),
        () => reader.push(new Uint8Array(0)),
        () => reader.push(BYTES.exact),
        () => reader.end(),
      ]) {
        try {
          attempt();
        } catch (error) {
          errors.push(error);
        }
      }
      expect(errors.length).toBe(4);
      expect(new Set(errors).size).toBe(1);
    }
  });
});

/** The fields of an entry piece: bucket and rank, tag, then the words of the bucket. */
const PLACE = 0;
const TAG = 1;
const BUCKET = 2;

describe.each(['exact', 'compact'] as const)('a snapshot made up, %s', (layout) => {
  const fields = layout === 'exact' ? EXACT : COMPACT;
  const build = (edit: Edit): FlowCache | FlowCacheError => {
    const pieces = takeApart(BYTES[layout], CACHES[layout].geometry);
    edit(pieces);
    return read([putTogether(pieces)]);
  };
  /** A row that has more than one entry. */
  const fullest = ({ rows }: Pieces): Pieces['rows'][number] =>
    rows.reduce((most, row) => (row.entries.length > most.entries.length ? row : most));
  const change = (word: number, value: (before: number) => number): Edit => {
    return (pieces) => {
      const entry = fullest(pieces).entries[1]!;
      setWord(entry, word, value(wordOf(entry, word)));
    };
  };
  const edits: readonly (readonly [string, FlowCacheErrorCode, Edit])[] = [
    ['another mark', 'ERR_FLOW_CACHE_HEADER', ({ header }) => header.set([0x69])],
    [
      'a row too many',
      'ERR_SNAPSHOT_ENTRY',
      ({ rows }) => {
        rows.at(-1)!.row = SIZE.rows;
      },
    ],
    ['rows that go down', 'ERR_SNAPSHOT_ENTRY', ({ rows }) => void rows.reverse()],
    ['a row twice', 'ERR_SNAPSHOT_ENTRY', ({ rows }) => void rows.unshift(rows[0]!)],
    [
      'a row without entries',
      'ERR_SNAPSHOT_ENTRY',
      ({ rows }) => void rows.splice(0, 1, { ...rows[0]!, held: 0, entries: [] }),
    ],
    [
      'a row of too many entries',
      'ERR_SNAPSHOT_ENTRY',
      (pieces) => {
        fullest(pieces).held = SIZE.buckets + 1;
      },
    ],
    [
      'a row of 2^32 - 1 entries',
      'ERR_SNAPSHOT_ENTRY',
      (pieces) => {
        fullest(pieces).held = 0xffffffff;
      },
    ],
    ['a bucket beyond the row', 'ERR_SNAPSHOT_ENTRY', change(PLACE, (before) => (before & 0xffff0000) | SIZE.buckets)],
    ['a bucket twice', 'ERR_SNAPSHOT_ENTRY', change(PLACE, (before) => before & 0xffff0000)],
    [
      'a rank beyond the entries',
      'ERR_SNAPSHOT_ENTRY',
      change(PLACE, (before) => (before & 0xffff) | (SIZE.buckets << 16)),
    ],
    [
      'a rank twice',
      'ERR_SNAPSHOT_ENTRY',
      (pieces) => {
        const [first, second] = fullest(pieces).entries;
        setWord(second!, PLACE, (wordOf(second!, PLACE) & 0xffff) | (wordOf(first!, PLACE) & 0xffff0000));
      },
    ],
    ['another tag', 'ERR_SNAPSHOT_ENTRY', change(TAG, (before) => before ^ 4)],
    ['another flow', 'ERR_SNAPSHOT_ENTRY', change(BUCKET + fields.PORTS, (before) => before ^ 1)],
    ['another protocol', 'ERR_SNAPSHOT_ENTRY', change(BUCKET + fields.META, (before) => before ^ 0x10)],
    ['another kind of address', 'ERR_SNAPSHOT_ENTRY', change(BUCKET + fields.META, (before) => before ^ 0x100)],
    ['more hops than there are', 'ERR_SNAPSHOT_ENTRY', change(BUCKET + fields.META, (before) => before | (0x7f << 9))],
    ['an entry that was handed on', 'ERR_SNAPSHOT_ENTRY', change(BUCKET + fields.META, (before) => before | (1 << 24))],
    ['an entry without packets', 'ERR_SNAPSHOT_ENTRY', change(BUCKET + fields.PACKETS, () => 0)],
    [
      'a flow in two buckets',
      'ERR_SNAPSHOT_ENTRY',
      (pieces) => {
        const { entries } = fullest(pieces);
        const place = wordOf(entries[1]!, PLACE);
        entries[1] = entries[0]!.slice();
        setWord(entries[1]!, PLACE, place);
      },
    ],
    [
      "flows in each other's rows",
      'ERR_SNAPSHOT_ENTRY',
      ({ rows }) => {
        const [first, second] = [rows[0]!.entries[0]!, rows[1]!.entries[0]!];
        const places = [wordOf(first, PLACE), wordOf(second, PLACE)] as const;
        rows[0]!.entries[0] = second;
        rows[1]!.entries[0] = first;
        setWord(second, PLACE, places[0]);
        setWord(first, PLACE, places[1]);
      },
    ],
    [
      'an end with something in it',
      'ERR_SNAPSHOT_ENTRY',
      ({ end }) => {
        end[1] = 1;
      },
    ],
    [
      'no end',
      'ERR_SNAPSHOT_ENTRY',
      ({ end }) => {
        end[0] = 0;
      },
    ],
    [
      'a sweep beyond the rows',
      'ERR_FLOW_CACHE_HEADER',
      ({ header }) => setWord(header, 2 + HEADER.SWEEP_ROW, SIZE.rows),
    ],
    ['another version', 'ERR_FLOW_CACHE_HEADER', ({ header }) => setWord(header, 2 + HEADER.VERSION, 1)],
    ['an unknown metric', 'ERR_FLOW_CACHE_HEADER', ({ header }) => setWord(header, 2 + METRIC_WORDS, 1000)],
    ['no buckets', 'ERR_FLOW_CACHE_HEADER', ({ header }) => setWord(header, 2 + HEADER.BUCKETS, 0)],
    ['another seed', 'ERR_SNAPSHOT_ENTRY', ({ header }) => setWord(header, 2 + HEADER.SEED, 9)],
  ];

  test.each(edits)('with %s is refused: %s', (_, code, edit) => {
    expectError(build(edit), code);
  });

  test('is taken if nothing is wrong with it', () => {
    const result = build(() => {});
    expect(result).toBeInstanceOf(FlowCache);
    expectSound(result as FlowCache);
  });

  test('is taken with the entries of a row in another order', () => {
    const result = build((pieces) => void fullest(pieces).entries.reverse());
    expect([...(result as FlowCache)]).toEqual([...CACHES[layout]]);
  });
});

test('an IPv4 flow with more than an address is refused', () => {
  const ipv4 = ({ rows }: Pieces): Uint8Array =>
    rows.flatMap(({ entries }) => entries).find((entry) => (wordOf(entry, BUCKET + EXACT.META) & 0x100) === 0)!;
  for (const word of [1, 2, 3, 5, 6, 7]) {
    const pieces = takeApart(BYTES.exact, CACHES.exact.geometry);
    setWord(ipv4(pieces), BUCKET + word, 1);
    expectError(read([putTogether(pieces)]), 'ERR_SNAPSHOT_ENTRY');
  }
});

test('bytes that are no snapshot are refused at the first that is wrong', () => {
  for (let at = 0; at < MARK_BYTES; at++) {
    const bytes = BYTES.exact.slice(0, at + 1);
    bytes[at]! ^= 0x20;
    const reader = new SnapshotReader();
    reader.push(bytes.subarray(0, at));
    expect(() => reader.push(bytes.subarray(at))).toThrow(FlowCacheError);
  }
  expectError(read([new TextEncoder().encode('PK\u0003\u0004 something else altogether')]), 'ERR_FLOW_CACHE_HEADER');
});

test('a damaged header takes no memory: its checksum comes first', () => {
  const copy = BYTES.exact.slice();
  setWord(copy, 2 + HEADER.ROWS, 1 << 28);
  expectError(read([copy]), 'ERR_SNAPSHOT_CHECKSUM');
  // And with it, dimensions that no cache has.
  expectError(read([sealed(copy)]), 'ERR_FLOW_CACHE_HEADER');
  const huge = sealed(copy);
  setWord(huge, HEADER_BYTES / 4, wordOf(huge, HEADER_BYTES / 4) ^ 1);
  expectError(read([huge, words(0)]), 'ERR_SNAPSHOT_CHECKSUM');
});
