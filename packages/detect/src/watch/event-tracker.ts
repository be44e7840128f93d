import type { Lifecycle } from './config.js';

/** A rule whose findings are tracked. */
export interface TrackedRule {
  readonly name: string;
  readonly lifecycle: Lifecycle;
}

/** An event that begins, goes on or ends. */
export interface TrackedEvent<F> {
  /** The same from the beginning to the end of an event; unique with the tracker. */
  readonly id: number;
  readonly rule: TrackedRule;
  readonly key: string;
  /** `open`: it begins, or with `every` goes on. */
  readonly state: 'open' | 'close';
  /** Whether `open` tells of the beginning. */
  readonly isFirst: boolean;
  /** Time of the first finding. */
  readonly beginMs: number;
  /** Time of what is told: the finding, the value at or below `clear`, or the last finding if no more have come. */
  readonly timeMs: number;
  /** Findings so far. */
  readonly findings: number;
  /** The finding that is told; at the end the one that was told last. */
  readonly finding: F;
}

export interface EventTrackerOptions {
  /** Keys at a time, in all rules, whether their event has begun or `for` has not passed yet: 1 to 2^20. Default 65 536. */
  readonly keys?: number;
}

interface Entry<F> {
  readonly rule: TrackedRule;
  readonly key: string;
  readonly beginMs: number;
  lastMs: number;
  /** 0: it has not begun. */
  id: number;
  toldMs: number;
  findings: number;
  finding: F | null;
}

/** Findings stop when none comes for so long; for a rule with `clear`: when neither a finding nor another value does. */
const QUIET_MS = 1000;
const QUIET_CLEAR_MS = 60_000;

const MOST_KEYS = 1 << 20;
const quietMs = ({ lifecycle }: TrackedRule): number => (lifecycle.clear === null ? QUIET_MS : QUIET_CLEAR_MS);

/**
 * Makes events with a beginning and an end of findings. It is a function of state, finding and time: it has no clock and
 * no memory but that of its keys, whose number is bounded.
 */
export class EventTracker<F> {
  /** Findings of keys for which there was no room. */
  untracked = 0;
  readonly #most: number;
  readonly #rules = new Map<string, Map<string, Entry<F>>>();
  #size = 0;
  #open = 0;
  #ids = 0;

  /** @throws RangeError for a number of keys out of range */
  constructor({ keys = 65_536 }: EventTrackerOptions = {}) {
    if (!Number.isInteger(keys) || keys < 1 || keys > MOST_KEYS) {
      throw new RangeError(`event tracker: keys must be an integer from 1 to ${MOST_KEYS}, not ${keys}`);
    }
    this.#most = keys;
  }

  /** Keys held. */
  get size(): number {
    return this.#size;
  }

  /** Events that have begun and not ended. */
  get open(): number {
    return this.#open;
  }

  /** Whether a rule has a key at all: only then is it worth looking for values that end its events. */
  has(rule: string): boolean {
    return this.#rules.has(rule);
  }

  /** A finding of a rule. Returns what is to be told of, in order. @param make the finding, called if it is told */
  find(rule: TrackedRule, key: string, timeMs: number, make: () => F): TrackedEvent<F>[] {
    const told: TrackedEvent<F>[] = [];
    let entry = this.#rules.get(rule.name)?.get(key);
    if (entry !== undefined && timeMs - entry.lastMs > quietMs(rule)) {
      this.#end(entry, entry.lastMs, told);
      entry = undefined;
    }
    if (entry === undefined) {
      if (this.#size >= this.#most) {
        this.untracked++;
        return told;
      }
      entry = { rule, key, beginMs: timeMs, lastMs: timeMs, id: 0, toldMs: 0, findings: 0, finding: null };
      this.#put(entry);
    }
    entry.lastMs = Math.max(entry.lastMs, timeMs);
    entry.findings++;
    const { forMs, everyMs } = rule.lifecycle;
    const isFirst = entry.id === 0;
    if (isFirst ? entry.lastMs - entry.beginMs >= forMs : everyMs !== null && entry.lastMs - entry.toldMs >= everyMs) {
      if (isFirst) {
        entry.id = ++this.#ids;
        this.#open++;
      }
      entry.toldMs = entry.lastMs;
      entry.finding = make();
      told.push(eventOf(entry, 'open', isFirst, entry.lastMs));
    }
    return told;
  }

  /** A value of a rule with `clear` that need not be a finding. It ends the event, or keeps it open. */
  see(rule: TrackedRule, key: string, timeMs: number, value: number): TrackedEvent<F>[] {
    const entry = this.#rules.get(rule.name)?.get(key);
    const { clear } = rule.lifecycle;
    const told: TrackedEvent<F>[] = [];
    if (entry === undefined) return told;
    if (timeMs - entry.lastMs > quietMs(rule)) this.#end(entry, entry.lastMs, told);
    else if (clear === null) return told;
    else if (value <= clear) this.#end(entry, Math.max(timeMs, entry.lastMs), told);
    else entry.lastMs = Math.max(entry.lastMs, timeMs);
    return told;
  }

  /** What a key's detector itself knows to be over. */
  end(rule: TrackedRule, key: string, timeMs: number): TrackedEvent<F>[] {
    const entry = this.#rules.get(rule.name)?.get(key);
    const told: TrackedEvent<F>[] = [];
    if (entry !== undefined) this.#end(entry, Math.max(timeMs, entry.lastMs), told);
    return told;
  }

  /** Ends events whose findings have stopped. Looks at every key: call it a few times a second at most. */
  advance(timeMs: number): TrackedEvent<F>[] {
    const told: TrackedEvent<F>[] = [];
    for (const entries of this.#rules.values()) {
      for (const entry of entries.values()) {
        if (timeMs - entry.lastMs > quietMs(entry.rule)) this.#end(entry, entry.lastMs, told);
      }
    }
    return told;
  }

  /** Ends all events of rules that are not in force any more, or whose lifecycle has changed. */
  keep(isKept: (rule: TrackedRule) => boolean): TrackedEvent<F>[] {
    const told: TrackedEvent<F>[] = [];
    for (const entries of [...this.#rules.values()]) {
      for (const entry of [...entries.values()]) if (!isKept(entry.rule)) this.#end(entry, entry.lastMs, told);
    }
    return told;
  }

  #put(entry: Entry<F>): void {
    const { rule, key } = entry;
    let entries = this.#rules.get(rule.name);
    if (entries === undefined) {
      entries = new Map();
      this.#rules.set(rule.name, entries);
    }
    entries.set(key, entry);
    this.#size++;
  }

  #end(entry: Entry<F>, timeMs: number, told: TrackedEvent<F>[]): void {
    const { rule, key, id } = entry;
    const entries = this.#rules.get(rule.name)!;
    entries.delete(key);
    if (entries.size === 0) this.#rules.delete(rule.name);
    this.#size--;
    if (id === 0) return;
    this.#open--;
    told.push(eventOf(entry, 'close', false, timeMs));
  }
}

function eventOf<F>(entry: Entry<F>, state: 'open' | 'close', isFirst: boolean, timeMs: number): TrackedEvent<F> {
  const { id, rule, key, beginMs, findings, finding } = entry;
  // There is one: an event that is told of has begun with a finding.
  return { id, rule, key, state, isFirst, beginMs, timeMs, findings, finding: finding! };
}
