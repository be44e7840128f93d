import { formatIpv4, formatIpv6, TelemetryBatch } from '@int/codec';
import { RecordIds } from '@int/collector';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HourFinder } from '../../src/fill/instants.js';
import { ReportRows } from '../../src/fill/report-rows.js';
import { AddressDictionary, PathDictionary } from '../../src/memory/dictionary.js';
import { OpenSegments } from '../../src/memory/open-segments.js';
import { Segment } from '../../src/memory/segment.js';
import { SLAB_ROWS, SLAB_STRIDE, Slab, SlabPool } from '../../src/memory/slab.js';
import { REPORT_ROW } from '../../src/table/hops.js';
import { SCHEMA_TABLES } from '../../src/table/tables.js';
import { SEED } from '../seed.js';

const seed = { seed: SEED };
/** Few different ones, so that they repeat. */
const word = fc.oneof(fc.nat(3), fc.constant(0xffffffff), fc.integer({ min: 0, max: 0xffffffff }));

describe('a dictionary', () => {
  test('gives each address one number, IPv4 and IPv6 apart', () => {
    const address = fc.oneof(fc.tuple(word), fc.tuple(word, word, word, word));
    fc.assert(
      fc.property(fc.array(address, { maxLength: 800, size: 'max' }), (addresses) => {
        const dictionary = new AddressDictionary();
        const model = new Map<string, number>();
        for (const words of addresses) {
          const [a, b = 0, c = 0, d = 0] = words;
          const text = words.length === 1 ? formatIpv4(a) : formatIpv6(a, b, c, d);
          if (!model.has(text)) model.set(text, model.size);
          expect(words.length === 1 ? dictionary.ipv4(a) : dictionary.ipv6(a, b, c, d)).toBe(model.get(text));
        }
        expect(dictionary.texts()).toEqual([...model.keys()]);
      }),
      { ...seed, numRuns: 20 },
    );
  });

  test('gives each path one number, however long it is', () => {
    fc.assert(
      fc.property(fc.array(fc.array(word, { maxLength: 255 }), { maxLength: 400 }), (paths) => {
        const dictionary = new PathDictionary();
        const model = new Map<string, number>();
        for (const path of paths) {
          const text = JSON.stringify(path.map((node) => (node === 0xffffffff ? null : node)));
          if (!model.has(text)) model.set(text, model.size);
          // What lies behind the path does not count.
          expect(dictionary.path(Uint32Array.from([...path, 7]), path.length)).toBe(model.get(text));
        }
        expect(dictionary.texts()).toEqual([...model.keys()]);
      }),
      { ...seed, numRuns: 30 },
    );
  });

  test('holds far more than it had room for at first', () => {
    const dictionary = new AddressDictionary();
    let wrong = 0;
    for (let k = 0; k < 100_000; k++) if (dictionary.ipv4(k) !== k) wrong++;
    for (let k = 99_999; k >= 0; k -= 7) if (dictionary.ipv4(k) !== k) wrong++;
    expect(wrong).toBe(0);
    expect(dictionary.size).toBe(100_000);
  });
});

test('hours are exact at their edges, in any order', () => {
  const hourNs = 3_600_000_000_000n;
  const time = fc
    .tuple(fc.bigInt({ min: 0n, max: 2_562_047n }), fc.constantFrom(-1n, 0n, 1n, hourNs / 2n))
    .map(([hour, beside]) => hour * hourNs + beside)
    .filter((ns) => ns >= 0n);
  fc.assert(
    fc.property(fc.array(time, { maxLength: 50 }), (times) => {
      const finder = new HourFinder();
      for (const ns of times) {
        expect(finder.find(Number(ns >> 32n), Number(ns & 0xffffffffn))).toBe(Number(ns / hourNs));
      }
    }),
    seed,
  );
});

test('numbers of records go on beyond 32 bits', () => {
  const batch = new TelemetryBatch({ frames: 2, hops: 256 });
  batch.hopStart.fill(0);
  batch.hopCount.fill(0);
  batch.frame.fill(0);
  const ids = new RecordIds('0123456789abcdef');
  ids.next = 2 ** 32 - 1;
  const { hops } = SCHEMA_TABLES;
  const slab = new Slab(hops.shape);
  new ReportRows().append(new Segment(hops, 0, 0), slab, batch, 0, 2, ids);
  const cells = (column: number) => [0, 1].map((row) => slab.words[column * SLAB_STRIDE + row]);
  expect([cells(REPORT_ROW.INSTANCE), cells(REPORT_ROW.INSTANCE + 1)]).toEqual([
    [0x89abcdef, 0x89abcdef],
    [0x01234567, 0x01234567],
  ]);
  expect([cells(REPORT_ROW.NUMBER), cells(REPORT_ROW.NUMBER + 1)]).toEqual([
    [0xffffffff, 0],
    [0, 1],
  ]);
  expect(ids.next).toBe(2 ** 32 + 1);
});

test('a pool never holds more than its limit, but for slabs that were asked for beyond it', () => {
  const shapes = [
    { words: 4, texts: 0 },
    { words: 9, texts: 1 },
  ];
  const limit = 10 * Slab.byteLength(shapes[1]!);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(1), fc.nat(3)), { maxLength: 200 }), (steps) => {
      const pool = new SlabPool(limit);
      const taken: Slab[] = [];
      for (const [index, what] of steps) {
        const shape = shapes[index]!;
        if (what === 0 && taken.length > 0) pool.give(taken.splice(index % taken.length, 1)[0]!);
        else {
          const slab = pool.take(shape);
          const used = taken.reduce((sum, each) => sum + Slab.byteLength(each.shape), 0);
          // There is one exactly if there is room for it.
          expect(slab !== null).toBe(used + Slab.byteLength(shape) <= limit);
          if (slab !== null) {
            expect([slab.rows, slab.records, slab.used.some((column) => column !== 0)]).toEqual([0, 0, false]);
            slab.rows = 5;
            slab.use(0);
            taken.push(slab);
          }
        }
        expect(pool.usedBytes).toBe(taken.reduce((sum, each) => sum + Slab.byteLength(each.shape), 0));
      }
    }),
    seed,
  );
});

test('each row is in one segment that is closed once, also of those that came when memory was full', () => {
  const tables = [SCHEMA_TABLES.hops, SCHEMA_TABLES.events];
  const limit = 3 * Math.max(...tables.map(({ shape }) => Slab.byteLength(shape)));
  const steps = fc.array(
    fc.record({
      table: fc.nat(1),
      hour: fc.nat(5),
      rows: fc.integer({ min: 1, max: SLAB_ROWS }),
      mayExceed: fc.boolean(),
      /** Closed segments that are dealt with before. */
      done: fc.nat(2),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(steps, (course) => {
      const pool = new SlabPool(limit);
      const closed: Segment[] = [];
      const waiting: Segment[] = [];
      const taker = {
        get waiting() {
          return waiting.length;
        },
        add(segment: Segment): void {
          closed.push(segment);
          waiting.push(segment);
        },
      };
      const segments = new OpenSegments(pool, { rows: 3 * SLAB_ROWS, bytes: 2 * limit, ageMs: 1e9 }, taker);
      let written = 0;
      for (const { table, hour, rows, mayExceed, done } of course) {
        for (const segment of waiting.splice(0, done)) for (const slab of segment.slabs) pool.give(slab);
        const slab = segments.room(tables[table]!, hour, rows, mayExceed);
        if (slab === null) {
          expect(mayExceed).toBe(false);
          continue;
        }
        const { segment } = segments;
        expect([segment.table, segment.hour, segment.slabs.at(-1)]).toEqual([tables[table], hour, slab]);
        expect(closed).not.toContain(segment);
        slab.rows += rows;
        segment.rows += rows;
        written += rows;
        expect(slab.rows).toBeLessThanOrEqual(SLAB_ROWS);
        segments.closeFull();
      }
      segments.closeAll();
      expect(new Set(closed).size).toBe(closed.length);
      expect(closed.reduce((sum, { rows }) => sum + rows, 0)).toBe(written);
    }),
    seed,
  );
});
