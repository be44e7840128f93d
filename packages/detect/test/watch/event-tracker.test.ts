import { EventTracker, type TrackedEvent, type TrackedRule } from '@int/detect';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { Random } from '../reference/random.js';
import { SEED } from '../seed.js';

const LIFECYCLE = { severity: 'warning', key: null, forMs: 0, clear: null, everyMs: null } as const;
const rule = (more: Partial<TrackedRule['lifecycle']> = {}, name = 'r'): TrackedRule => ({
  name,
  lifecycle: { ...LIFECYCLE, ...more },
});

const short = (told: readonly TrackedEvent<number>[]): string[] =>
  told.map(({ id, key, state, isFirst, beginMs, timeMs, findings, finding }) =>
    [id, key, state === 'open' && !isFirst ? 'on' : state, beginMs, timeMs, findings, finding].join(' '),
  );

type Step =
  | { readonly kind: 'find'; readonly key: string; readonly timeMs: number; readonly value: number }
  | { readonly kind: 'see'; readonly key: string; readonly timeMs: number; readonly value: number }
  | { readonly kind: 'advance'; readonly timeMs: number };

/**
 * The same a second time, by its history: for each key the list of all that happened, from which everything is worked
 * out anew at each step.
 */
class ReferenceTracker {
  readonly #rule: TrackedRule;
  readonly #histories = new Map<string, { readonly timeMs: number; readonly value: number | null }[]>();
  readonly #ids = new Map<string, number>();
  readonly #told = new Map<string, number>();
  readonly #values = new Map<string, number>();
  #next = 0;

  constructor(of: TrackedRule) {
    this.#rule = of;
  }

  #latest(key: string): number {
    return Math.max(...this.#histories.get(key)!.map(({ timeMs }) => timeMs));
  }

  #line(key: string, state: string, timeMs: number): string {
    const found = this.#histories.get(key)!.filter(({ value }) => value !== null);
    return [this.#ids.get(key), key, state, found[0]!.timeMs, timeMs, found.length, this.#values.get(key)].join(' ');
  }

  #close(key: string, timeMs: number): string[] {
    const lines = this.#ids.has(key) ? [this.#line(key, 'close', timeMs)] : [];
    for (const map of [this.#histories, this.#ids, this.#told, this.#values]) map.delete(key);
    return lines;
  }

  step(step: Step): string[] {
    const { clear, forMs, everyMs } = this.#rule.lifecycle;
    const quiet = clear === null ? 1000 : 60_000;
    const lines: string[] = [];
    const keys = step.kind === 'advance' ? [...this.#histories.keys()] : [step.key];
    for (const key of keys) {
      if (this.#histories.has(key) && step.timeMs > this.#latest(key) + quiet)
        lines.push(...this.#close(key, this.#latest(key)));
    }
    if (step.kind === 'see') {
      const history = this.#histories.get(step.key);
      if (history === undefined || clear === null) return lines;
      history.push({ timeMs: step.timeMs, value: null });
      if (step.value <= clear) lines.push(...this.#close(step.key, this.#latest(step.key)));
    }
    if (step.kind === 'find') {
      const { key } = step;
      if (!this.#histories.has(key)) this.#histories.set(key, []);
      this.#histories.get(key)!.push({ timeMs: step.timeMs, value: step.value });
      const now = this.#latest(key);
      const begin = this.#histories.get(key)![0]!.timeMs;
      const told = this.#told.get(key);
      if (told === undefined && now >= begin + forMs) {
        this.#ids.set(key, ++this.#next);
        this.#told.set(key, now);
        this.#values.set(key, step.value);
        lines.push(this.#line(key, 'open', now));
      } else if (told !== undefined && everyMs !== null && now >= told + everyMs) {
        this.#told.set(key, now);
        this.#values.set(key, step.value);
        lines.push(this.#line(key, 'on', now));
      }
    }
    return lines;
  }
}

describe('EventTracker', () => {
  it('tells of the beginning, and of the end when findings have stopped for a second', () => {
    const tracker = new EventTracker<number>();
    expect(short(tracker.find(rule(), 'a', 1000, () => 7))).toEqual(['1 a open 1000 1000 1 7']);
    expect(short(tracker.find(rule(), 'a', 1900, () => 8))).toEqual([]);
    expect(short(tracker.advance(2900))).toEqual([]);
    expect(short(tracker.advance(2901))).toEqual(['1 a close 1000 1900 2 7']);
    expect([tracker.size, tracker.open]).toEqual([0, 0]);
  });

  it('waits until findings have gone on for a time', () => {
    const tracker = new EventTracker<number>();
    const late = rule({ forMs: 2000 });
    expect(short(tracker.find(late, 'a', 0, () => 1))).toEqual([]);
    expect(short(tracker.find(late, 'a', 900, () => 2))).toEqual([]);
    // Too long without: it begins anew.
    expect(short(tracker.find(late, 'a', 2500, () => 3))).toEqual([]);
    for (const timeMs of [3400, 4300]) expect(short(tracker.find(late, 'a', timeMs, () => 4))).toEqual([]);
    expect(short(tracker.find(late, 'a', 4500, () => 5))).toEqual(['1 a open 2500 4500 4 5']);
  });

  it('with clear ends at a value at or below it, and not before', () => {
    const tracker = new EventTracker<number>();
    const queue = rule({ clear: 40 });
    tracker.find(queue, 'a', 0, () => 120);
    expect(short(tracker.see(queue, 'a', 5000, 41))).toEqual([]);
    expect(short(tracker.see(queue, 'b', 5000, 0))).toEqual([]);
    expect(short(tracker.see(queue, 'a', 9000, 40))).toEqual(['1 a close 0 9000 1 120']);
    tracker.find(queue, 'a', 10_000, () => 130);
    expect(short(tracker.advance(70_000))).toEqual([]);
    expect(short(tracker.advance(70_001))).toEqual(['2 a close 10000 10000 1 130']);
  });

  it('tells again of an event that goes on', () => {
    const tracker = new EventTracker<number>();
    const often = rule({ everyMs: 500 });
    const lines = [0, 300, 600, 900, 1200].flatMap((timeMs) => short(tracker.find(often, 'a', timeMs, () => timeMs)));
    expect(lines).toEqual(['1 a open 0 0 1 0', '1 a on 0 600 3 600', '1 a on 0 1200 5 1200']);
  });

  it('counts findings of keys beyond its room', () => {
    const tracker = new EventTracker<number>({ keys: 2 });
    for (const key of ['a', 'b', 'c', 'a', 'c']) tracker.find(rule(), key, 0, () => 1);
    expect([tracker.size, tracker.open, tracker.untracked]).toEqual([2, 2, 2]);
    expect(short(tracker.keep(() => false))).toHaveLength(2);
    expect(() => new EventTracker({ keys: 0 })).toThrow(RangeError);
  });

  it('what lasts begins, goes on and ends without findings in between', () => {
    const tracker = new EventTracker<string>();
    const lasting = { ...rule({ forMs: 10_000, everyMs: 60_000 }), isLasting: true };
    expect(tracker.find(lasting, 'a', 1000, () => 'first')).toEqual([]);
    expect(tracker.advance(10_999)).toEqual([]);
    const told = tracker.advance(140_000);
    expect(told.map(({ isFirst, timeMs, finding }) => [isFirst, timeMs, finding])).toEqual([
      [true, 11_000, 'first'],
      [false, 71_000, 'first'],
      [false, 131_000, 'first'],
    ]);
    expect(tracker.find(lasting, 'a', 150_000, () => 'next')).toEqual([]);
    const rest = tracker.end(lasting, 'a', 191_000);
    expect(rest.map(({ state, timeMs, finding }) => [state, timeMs, finding])).toEqual([
      ['open', 191_000, 'next'],
      ['close', 191_000, 'next'],
    ]);
    // Of a long time, not every repetition is told; what is over before it begins is not told at all.
    tracker.find({ ...lasting, name: 'often', lifecycle: { ...LIFECYCLE, everyMs: 1 } }, 'a', 0, () => 'a');
    expect(tracker.advance(86_400_000)).toHaveLength(3600);
    tracker.find(lasting, 'b', 0, () => 'b');
    expect(tracker.end(lasting, 'b', 9999)).toEqual([]);
  });

  it('agrees with the plain second implementation', () => {
    let told = 0;
    for (let k = 0; k < runs(200); k++) {
      const random = new Random(SEED + k);
      const of = rule({
        forMs: random.pick([0, 0, 1, 700, 3000]),
        clear: random.pick([null, 40]),
        everyMs: random.pick([null, 500, 5000]),
      });
      const tracker = new EventTracker<number>();
      const reference = new ReferenceTracker(of);
      let timeMs = 0;
      for (let n = 0; n < 200; n++) {
        timeMs += random.pick([0, 1, 100, 100, 900, 1100, 30_000, 61_000]) * (random.chance(0.05) ? -1 : 1);
        const value = random.below(100);
        const key = random.pick(['a', 'b', 'c']);
        const kind = random.pick(['find', 'find', 'see', 'advance'] as const);
        const step: Step = kind === 'advance' ? { kind, timeMs } : { kind, key, timeMs, value };
        const found =
          kind === 'find'
            ? tracker.find(of, key, timeMs, () => value)
            : kind === 'see'
              ? tracker.see(of, key, timeMs, value)
              : tracker.advance(timeMs);
        expect(short(found), `seed ${SEED + k}, step ${n}`).toEqual(reference.step(step));
        told += found.length;
      }
    }
    expect(told).toBeGreaterThan(runs(200) * 20);
  });
});
