import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import type { KeyMatch, MatchKind } from '../../../src/ir/program.js';
import { ControlError } from '../../../src/tables/control-error.js';
import { canonicalMatch, matchesPattern, shapeOf } from '../../../src/tables/key-match.js';
import { MatchTable } from '../../../src/tables/match-table.js';
import { bits, environment, key, seed, table, to } from './declarations.js';

/** The plainest model: all entries, looked through one by one. */
interface ModelEntry {
  readonly keys: readonly KeyMatch[];
  readonly priority: number;
  readonly handle: number;
}

interface KeySpec {
  readonly kind: MatchKind;
  readonly width: number;
}

const widths = [1, 3, 8, 9, 16, 31, 32, 33, 48, 64, 128];

function keyValue(width: number): fc.Arbitrary<bigint> {
  const ones = (1n << BigInt(width)) - 1n;
  // Few values, many ones at the top: entries must hit, overlap and collide.
  return fc.oneof(
    fc.bigInt({ min: 0n, max: ones < 3n ? ones : 3n }),
    fc.bigInt({ min: 0n, max: ones < 3n ? ones : 3n }).map((low) => ones - low),
    fc.bigInt({ min: 0n, max: ones }),
  );
}

function matchOf({ kind, width }: KeySpec): fc.Arbitrary<KeyMatch> {
  const ones = (1n << BigInt(width)) - 1n;
  const value = keyValue(width);
  switch (kind) {
    case 'exact':
      return value.map((v) => ({ kind: 'exact', value: v }));
    case 'lpm':
      return fc
        .tuple(value, fc.oneof(fc.integer({ min: 0, max: Math.min(3, width) }), fc.integer({ min: 0, max: width })))
        .map(([v, length]) => ({ kind: 'prefix', value: v, length }));
    case 'ternary':
      return fc
        .tuple(value, fc.oneof(fc.constantFrom(0n, 1n, ones), fc.bigInt({ min: 0n, max: ones })))
        .map(([v, mask]) => ({ kind: 'mask', value: v, mask }));
    case 'range':
      return fc
        .tuple(value, value)
        .map(([a, b]) => (a < b ? { kind: 'range', low: a, high: b } : { kind: 'range', low: b, high: a }));
    default:
      return fc.oneof(
        value.map((v): KeyMatch => ({ kind: 'exact', value: v })),
        fc.constant<KeyMatch>({ kind: 'any' }),
      );
  }
}

type Step =
  | { readonly kind: 'add'; readonly keys: readonly KeyMatch[]; readonly priority: number }
  | { readonly kind: 'delete'; readonly pick: number }
  | { readonly kind: 'clear' }
  | { readonly kind: 'look'; readonly keys: readonly bigint[] };

function scenario(kinds: readonly MatchKind[]): fc.Arbitrary<{ specs: readonly KeySpec[]; steps: readonly Step[] }> {
  const specs = fc.tuple(...kinds.map((kind) => fc.constantFrom(...widths).map((width) => ({ kind, width }))));
  return specs.chain((chosen) => {
    const add = fc.record({
      kind: fc.constant('add' as const),
      keys: fc.tuple(...chosen.map(matchOf)),
      priority: fc.integer({ min: 0, max: 3 }),
    });
    const look = fc.record({
      kind: fc.constant('look' as const),
      keys: fc.tuple(...chosen.map(({ width }) => keyValue(width))),
    });
    const remove = fc.record({ kind: fc.constant('delete' as const), pick: fc.nat() });
    const step = fc.oneof(
      { weight: 12, arbitrary: add },
      { weight: 12, arbitrary: look },
      { weight: 3, arbitrary: remove },
      { weight: 1, arbitrary: fc.constant<Step>({ kind: 'clear' }) },
    );
    return fc.record({ specs: fc.constant(chosen), steps: fc.array(step, { minLength: 1, maxLength: 120 }) });
  });
}

function code(attempt: () => number): number | string {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof ControlError) return error.code;
    throw error;
  }
}

function sameMatch(left: KeyMatch, right: KeyMatch, width: number): boolean {
  if (left.kind === 'prefix' && right.kind === 'prefix') {
    const drop = BigInt(width - left.length);
    return left.length === right.length && left.value >> drop === right.value >> drop;
  }
  return JSON.stringify(left, show) === JSON.stringify(right, show);
}

function show(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

function prefixSum(keys: readonly KeyMatch[]): number {
  return keys.reduce((sum, match) => sum + (match.kind === 'prefix' ? match.length : 0), 0);
}

function holds(kinds: readonly MatchKind[]): void {
  fc.assert(
    fc.property(scenario(kinds), ({ specs, steps }) => {
      const size = 40;
      const declaration = table({
        size,
        keys: specs.map(({ kind, width }, i) => key(`k${i}`, bits(width), kind)),
      });
      const shapes = declaration.keys.map(shapeOf);
      const tested = new MatchTable(declaration, environment());
      const hasPriority = kinds.some((kind) => kind === 'ternary' || kind === 'range' || kind === 'optional');
      const versions: number[] = [];
      let model: ModelEntry[] = [];
      for (const step of steps) {
        if (step.kind === 'clear') {
          tested.clear();
          model = [];
          versions.length = 0;
        } else if (step.kind === 'delete') {
          const victim = model[step.pick % Math.max(1, model.length)];
          if (victim === undefined) continue;
          tested.delete(victim.handle);
          const slot = victim.handle & 0xffffff;
          versions[slot] = ((versions[slot] ?? 0) + 1) & 0xff;
          model = model.filter((each) => each !== victim);
          expect(code(() => tested.entry(victim.handle).handle)).toBe('ERR_CONTROL_BAD_HANDLE');
        } else if (step.kind === 'add') {
          const keys = step.keys.map((match, i) => canonicalMatch(shapes[i]!, match));
          const isDuplicate = model.some(
            (each) =>
              (!hasPriority || each.priority === step.priority) &&
              each.keys.every((match, i) => sameMatch(match, keys[i]!, shapes[i]!.width)),
          );
          let slot = 0;
          while (model.some((each) => (each.handle & 0xffffff) === slot)) slot++;
          const expected = isDuplicate
            ? 'ERR_CONTROL_DUPLICATE_ENTRY'
            : model.length === size
              ? 'ERR_CONTROL_TABLE_FULL'
              : (((versions[slot] ?? 0) << 24) | slot) >>> 0;
          const port = model.length & 0x1ff;
          const got = code(() => tested.add(step.keys, to(1, port), step.priority));
          expect(got).toBe(expected);
          if (typeof got === 'number') {
            model.push({ keys, priority: step.priority, handle: got });
            expect(tested.find(step.keys, step.priority)).toBe(got);
          }
        } else {
          const hits = model.filter((each) =>
            each.keys.every((match, i) => matchesPattern(shapes[i]!.width, match, step.keys[i]!)),
          );
          hits.sort((left, right) =>
            hasPriority
              ? left.priority - right.priority || (left.handle & 0xffffff) - (right.handle & 0xffffff)
              : prefixSum(right.keys) - prefixSum(left.keys),
          );
          // The next lookup fills the same result.
          const found = tested
            .lookup(...step.keys.map((value, i) => (shapes[i]!.width <= 32 ? Number(value) : value)))
            .copy();
          expect(found.isHit).toBe(hits.length > 0);
          expect(found.handle).toBe(hits[0]?.handle ?? -1);
          expect(found.action).toBe(hits.length > 0 ? 1 : 0);
          const words = step.keys.flatMap((value, i) => {
            const count = Math.ceil(shapes[i]!.width / 32);
            return Array.from({ length: count }, (_, word) => Number(BigInt.asIntN(32, value >> BigInt(32 * word))));
          });
          expect(tested.lookupWords?.(...words).handle).toBe(found.handle);
        }
        expect(tested.count).toBe(model.length);
      }
    }),
    { seed, numRuns: runs(60) },
  );
}

describe('every match engine finds what a linear search finds', () => {
  const combinations: readonly (readonly MatchKind[])[] = [
    ['exact'],
    ['exact', 'exact'],
    ['exact', 'exact', 'exact'],
    ['lpm'],
    ['exact', 'lpm'],
    ['lpm', 'exact'],
    ['exact', 'lpm', 'exact'],
    ['ternary'],
    ['optional', 'exact'],
    ['range'],
    ['ternary', 'range', 'lpm'],
    ['range', 'ternary', 'exact', 'optional'],
  ];
  for (const kinds of combinations) {
    it(`with ${kinds.join(', ')} keys`, () => holds(kinds));
  }
});

describe('tables that grow and shrink', () => {
  /** Entries of one value each, in a table of one key of this kind. */
  const cases: readonly (readonly [MatchKind, (value: bigint) => KeyMatch])[] = [
    ['exact', (value) => ({ kind: 'exact', value })],
    ['lpm', (value) => ({ kind: 'prefix', value, length: 40 })],
    ['ternary', (value) => ({ kind: 'mask', value, mask: (1n << 40n) - 1n })],
    ['range', (value) => ({ kind: 'range', low: value, high: value })],
    ['optional', (value) => ({ kind: 'exact', value })],
  ];
  for (const [kind, matching] of cases) {
    it(`keep each entry of a ${kind} key while its neighbours come and go`, () => {
      const count = kind === 'range' ? 300 : 3000;
      const tested = new MatchTable(table({ size: 65_536, keys: [key('k', bits(40), kind)] }), environment());
      const handles = new Map<bigint, number>();
      const nth = (i: number): bigint => BigInt(Math.imul(i, 0x9e3779b1) >>> 0) << 5n;
      const add = (i: number): void => {
        handles.set(nth(i), tested.add([matching(nth(i))], to(1, i & 0x1ff), i % 5));
      };
      const remove = (i: number): void => {
        tested.delete(handles.get(nth(i))!);
        handles.delete(nth(i));
      };
      const check = (): void => {
        for (let i = 0; i < count; i++) {
          const handle = handles.get(nth(i));
          const found = tested.lookup(nth(i));
          if (found.handle !== (handle ?? -1)) throw new Error(`entry ${i} is ${found.handle}, not ${handle}`);
          if (handle === undefined) continue;
          expect(found.words[0]).toBe(i & 0x1ff);
          const entry = tested.entry(handle);
          expect(canonicalMatch(tested.shapes[0]!, entry.keys[0]!)).toEqual(
            canonicalMatch(tested.shapes[0]!, matching(nth(i))),
          );
          expect(entry).toMatchObject({ handle, target: to(1, i & 0x1ff), priority: tested.hasPriorities ? i % 5 : 0 });
        }
        expect(tested.entries().length).toBe(handles.size);
      };
      for (let i = 0; i < count; i++) add(i);
      check();
      for (let i = 0; i < count; i += 2) remove(i);
      check();
      for (let i = 0; i < count; i += 4) add(i);
      check();
      for (let i = 0; i < count; i++) if (handles.has(nth(i)) && i > 4) remove(i);
      check();
      for (let i = 5; i < count; i += 3) add(i);
      check();
    });
  }
});

describe('large exact tables', () => {
  it('keeps 200,000 entries of one narrow key apart', () => {
    const tested = new MatchTable(table({ size: 200_000, keys: [key('k', bits(32), 'exact')] }), environment());
    for (let i = 0; i < 200_000; i++) {
      const value = Math.imul(i, 0x9e3779b1) >>> 0;
      tested.add([{ kind: 'exact', value: BigInt(value) }], to(1, i & 0x1ff));
    }
    let wrong = 0;
    for (let i = 0; i < 200_000; i++) {
      const found = tested.lookup(Math.imul(i, 0x9e3779b1) >>> 0);
      if (found.handle !== i || found.data[0] !== (i & 0x1ff)) wrong++;
    }
    expect(wrong).toBe(0);
    expect(code(() => tested.add([{ kind: 'exact', value: 1n }], to(2)))).toBe('ERR_CONTROL_TABLE_FULL');
  });
});
