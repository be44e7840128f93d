/** The watches of a detector. */
import type { BatchView } from '../engine/batch-view.js';
import type { Detector } from '../engine/detector.js';
import type { EventBatch } from '../engine/event-batch.js';
import { AbsentWatch } from './absent-watch.js';
import { BaselineWatch } from './baseline-watch.js';
import { BurstWatch } from './burst-watch.js';
import type { WatchConfig } from './config.js';
import { Findings } from './findings.js';
import { RateWatch } from './rate-watch.js';
import { StreamTime } from './stream-time.js';
import type { Watch, WatchSetting } from './watch.js';

function watchOf(config: WatchConfig, slot: number, setting: WatchSetting): Watch {
  switch (config.kind) {
    case 'baseline':
      return new BaselineWatch(config, slot, setting);
    case 'rate':
      return new RateWatch(config, slot, setting);
    case 'absent':
      return new AbsentWatch(config, slot, setting);
    case 'burst':
      return new BurstWatch(config, slot, setting);
  }
}

/**
 * The rules of a detector that look at time, each with its state. It does not matter how reports come in batches: whenever the time
 * of the stream reaches what a watch waits for, all watches are told before the report is looked at, in the order of their slots.
 */
export class Watches {
  readonly time: StreamTime = new StreamTime();
  /** The earliest time that a watch waits for. */
  due = Number.POSITIVE_INFINITY;
  readonly #detector: Detector;
  readonly #keys: number;
  readonly #idleNs: number;
  #findings: Findings | null = null;
  readonly #byName = new Map<string, Watch>();
  /** In the order of their slots. */
  #all: Watch[] = [];
  #eventRates: RateWatch[] = [];
  /** Of watches that are gone. */
  #withoutFlow = 0;
  #untracked = 0;

  /**
   * @param keys that a watch keeps apart
   * @param idleMs after which a key that is not seen makes room for another
   */
  constructor(detector: Detector, keys: number, idleMs: number) {
    this.#detector = detector;
    this.#keys = keys;
    this.#idleNs = idleMs * 1e6;
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** What has been found and not yet been read; `null` if there has never been a watch. */
  get events(): EventBatch | null {
    return this.#findings?.events ?? null;
  }

  get untold(): number {
    return this.#findings?.untold ?? 0;
  }

  get withoutFlow(): number {
    return this.#all.reduce((sum, watch) => sum + watch.withoutFlow, this.#withoutFlow);
  }

  get untracked(): number {
    return this.#all.reduce((sum, watch) => sum + watch.untracked, this.#untracked);
  }

  /** Findings of the rule in a slot. */
  foundBy(slot: number): number {
    return this.#all.find((watch) => watch.slot === slot)?.found ?? 0;
  }

  get found(): number {
    return this.#found + this.#all.reduce((sum, watch) => sum + watch.found, 0);
  }
  #found = 0;

  /** The watch of a rule: the one that it has, if it wants the same as before, with all that it has learned. */
  take(name: string, config: WatchConfig, slot: number): Watch {
    this.#findings ??= new Findings(this.time, this.#detector);
    let watch = this.#byName.get(name);
    if (watch === undefined || JSON.stringify(watch.config) !== JSON.stringify(config)) {
      if (watch !== undefined) this.#drop(watch);
      watch = watchOf(config, slot, {
        time: this.time,
        findings: this.#findings,
        keys: this.#keys,
        idleNs: this.#idleNs,
      });
      this.#byName.set(name, watch);
    }
    watch.slot = slot;
    return watch;
  }

  /** Forgets the watches of rules that are gone. @param names of the rules in force that are watches */
  keep(names: ReadonlySet<string>): void {
    for (const [name, watch] of this.#byName) {
      if (names.has(name)) continue;
      this.#byName.delete(name);
      this.#drop(watch);
    }
    this.#all = [...this.#byName.values()].sort((a, b) => a.slot - b.slot);
    this.#eventRates = this.#all.filter(
      (watch): watch is RateWatch => watch instanceof RateWatch && watch.of === 'events',
    );
    this.#wait();
  }

  /** The first row from `row` on at whose time a watch wants to be told; `to` if there is none. */
  endOfCalm(row: number, to: number): number {
    const { times } = this.time;
    const { due } = this;
    // Times do not go back.
    if (times[to - 1]! < due) return to;
    let end = row;
    while (times[end]! < due) end++;
    return end;
  }

  /** Tells the watches that wait for it. @param now offset of the stream's time */
  advance(now: number): void {
    for (const watch of this.#all) if (now >= watch.due) watch.advance(now);
    this.#wait();
  }

  /** Tells them before a row is looked at, if it is time. */
  advanceTo(row: number): void {
    const now = this.time.times[row]!;
    while (now >= this.due) this.advance(now);
  }

  /** Counts events `from` to `to - 1` for rates of events. */
  countEvents(view: BatchView, words: Int32Array, stride: number, from: number, to: number): void {
    for (const rate of this.#eventRates) rate.countEvents(view, this.time.times, words, stride, from, to);
  }

  #wait(): void {
    this.due = this.#all.reduce((due, watch) => Math.min(due, watch.due), Number.POSITIVE_INFINITY);
  }

  #drop(watch: Watch): void {
    this.#found += watch.found;
    this.#withoutFlow += watch.withoutFlow;
    this.#untracked += watch.untracked;
  }
}
