import { FLAG, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import { BatchView } from '../engine/batch-view.js';
import type { Detector } from '../engine/detector.js';
import type { Event } from '../engine/event.js';
import type { EventBatch } from '../engine/event-batch.js';
import { EVENT_STATES, KIND, SCOPES } from '../engine/event-columns.js';
import { RowMatch } from '../engine/row-match.js';
import { findsHops } from '../rules/lifecycle.js';
import type { Rule, RuleSet } from '../rules/model.js';
import type { WatchKey } from './config.js';
import { type EventLife, lifeOf, toldTimeNs } from './event-life.js';
import { EventTracker, type EventTrackerOptions, type TrackedEvent, type TrackedRule } from './event-tracker.js';
import { EventCopy, ToldEvents } from './told-events.js';

/** A finding that an event with a beginning and an end tells of. */
export interface TrackedFinding {
  readonly event: Event;
  /** Frame of its report, in the batch. */
  readonly frame: number;
  readonly timeNs: bigint;
  /** What has the beginning and the end, for people: `switch 3`, `switch 3 queue 1`, a flow. */
  readonly key: string;
}

export interface EventTrackingOptions extends EventTrackerOptions {
  /** The instance in the ids of events: 16 hexadecimal digits that no other detector has. Default: zeros. */
  readonly instance?: string;
}

interface Tracked extends TrackedRule {
  readonly rule: Rule;
  readonly key: WatchKey;
  /** Which reports may have values that end its events; `null`: it has no `clear`. */
  readonly match: RowMatch | null;
}

const OPEN = /* @__PURE__ */ EVENT_STATES.indexOf('open');
const CLOSE = /* @__PURE__ */ EVENT_STATES.indexOf('close');
const HOP = /* @__PURE__ */ SCOPES.indexOf('hop');
/** Detectors that tell themselves when what they have found is over. */
const LASTING: ReadonlySet<Rule['detector']['kind']> = /* @__PURE__ */ new Set(['baseline', 'rate', 'absent'] as const);
const NOTHING: readonly TrackedEvent<TrackedFinding>[] = [];
/** Events that may have ended are looked for so often. */
const ADVANCE_MS = 100;

/**
 * Makes events with a beginning and an end of a detector's findings, for the rules that have a `lifecycle`: call
 * {@link watched} with the detector's findings about time, then {@link after}, when a batch has been looked at.
 */
export class EventTracking {
  readonly #tracker: EventTracker<TrackedFinding>;
  #rules = new Map<string, Tracked>();
  #clears: readonly Tracked[] = [];
  #view: BatchView | null = null;
  #advancedMs = Number.NEGATIVE_INFINITY;
  readonly #instance: string;
  readonly #copies = new WeakMap<TrackedFinding, EventCopy>();
  /** What the rows of a stream's events tell themselves. */
  readonly #placed = new WeakSet<TrackedEvent<TrackedFinding>>();
  #rows: ToldEvents | null = null;

  /** @throws RangeError for a number of keys out of range, or an instance that is something else */
  constructor(rules: RuleSet, options: EventTrackingOptions = {}) {
    const { instance = '0'.repeat(16) } = options;
    if (!/^[0-9a-f]{16}$/.test(instance)) throw new RangeError(`not 16 hexadecimal digits: ${instance}`);
    this.#instance = instance;
    this.#tracker = new EventTracker(options);
    this.setRules(rules);
  }

  /** Whether any rule has a lifecycle. Without, there is nothing to do. */
  get isActive(): boolean {
    return this.#rules.size > 0;
  }

  /** Events that have begun and not ended; findings of keys for which there was no room. */
  get totals(): { readonly open: number; readonly untracked: number } {
    return { open: this.#tracker.open, untracked: this.#tracker.untracked };
  }

  /** Whether the findings of a rule become events with a beginning and an end. */
  isTracked(rule: string | null): boolean {
    return rule !== null && this.#rules.has(rule);
  }

  /** Other rules from now on. Returns the ends of events of rules that are not there any more, or are others now. */
  setRules({ rules }: RuleSet): readonly TrackedEvent<TrackedFinding>[] {
    const before = this.#rules;
    const tracked = rules.flatMap((rule): Tracked[] => {
      const { lifecycle = null, detector, name, match } = rule;
      if (lifecycle === null) return [];
      const known = before.get(name);
      if (known !== undefined && JSON.stringify(known.rule) === JSON.stringify(rule)) return [known];
      const ofDetector = 'key' in detector ? detector.key : findsHops(detector) ? 'switch' : 'flow';
      const key = lifecycle.key ?? ofDetector;
      const isLasting = LASTING.has(detector.kind);
      const seen = lifecycle.clear === null ? null : new RowMatch(match);
      return [{ name, lifecycle, rule, key, isLasting, match: seen }];
    });
    this.#rules = new Map(tracked.map((each) => [each.name, each]));
    this.#clears = tracked.filter(({ match }) => match !== null);
    return this.#tracker.keep((rule) => this.#rules.get(rule.name) === rule);
  }

  /** Time of what is told, nanoseconds since 1970: see {@link EventLife.timeNs}. */
  static timeNs(told: TrackedEvent<TrackedFinding>): bigint {
    return toldTimeNs(told);
  }

  /** What is told of an event beside its finding. */
  lifeOf(told: TrackedEvent<TrackedFinding>): EventLife {
    return lifeOf(told, this.#instance);
  }

  /**
   * Hands on events that are told as rows, for those who write events, in their order and some at a time: ends, and what time alone or
   * a rule that looks at time has told. Each has its {@link EventBatch.life}, and a report of its own in a batch apart, with the time of
   * what is told, the flow and the path. Others are among the events that {@link after} leaves, with their life and their report.
   * @param detector whose events they are
   * @param give takes rows, which are reused when it returns
   */
  giveRows(
    told: readonly TrackedEvent<TrackedFinding>[],
    detector: Detector,
    give: (events: EventBatch) => void,
  ): void {
    const apart = told.filter((each) => !this.#placed.has(each));
    if (apart.length === 0) return;
    this.#rows ??= new ToldEvents();
    const all = apart.map((each) => ({ copy: this.#copies.get(each.finding)!, life: this.lifeOf(each) }));
    this.#rows.give(all, detector, give);
  }

  /** Leaves out the findings of rules with a lifecycle that are no beginning of an event and do not tell that it goes on. */
  leaveOut(events: EventBatch): void {
    if (!this.isActive) return;
    let kept = 0;
    for (let event = 0; event < events.count; event++) {
      if (events.life(event) !== null || !this.isTracked(events.ruleName(event))) events.move(event, kept++);
    }
    events.truncate(kept);
  }

  /**
   * Tracks the findings of the rows from `from` up to `to`, which `events` has all events of. Of rules with a lifecycle
   * only those events stay in `events` that tell of a beginning, or of an event that goes on.
   */
  after(events: EventBatch, from: number, to: number): readonly TrackedEvent<TrackedFinding>[] {
    if (!this.isActive || from >= to) return NOTHING;
    const { batch } = events;
    const told: TrackedEvent<TrackedFinding>[] = [];
    if (this.#view?.batch !== batch) this.#view = new BatchView(batch);
    let kept = 0;
    let event = 0;
    for (let row = from; row < to; row++) {
      const isLooking = this.#clears.some(({ name }) => this.#tracker.has(name));
      // Where no event may end, only rows with findings are of interest.
      if (!isLooking) row = event < events.count ? events.report[event]! : to;
      if (row >= to) break;
      if (isLooking && batch.code[row] === 0) this.#see(batch, row, told);
      for (; event < events.count && events.report[event] === row; event++) {
        const rule = this.#rules.get(events.ruleName(event) ?? '');
        const open = rule === undefined ? null : this.#find(events, event, rule, told);
        if (rule !== undefined && open === null) continue;
        events.move(event, kept);
        if (open !== null) this.#place(events, kept, open);
        kept++;
      }
    }
    events.truncate(kept);
    this.#tick(timeOf(batch, to - 1), told);
    return told;
  }

  /**
   * Tracks what rules that look at time have found, see `Detector.findings`. The events stay as they are: each says itself whether it
   * is the first one, one more, or the end.
   */
  watched(events: EventBatch): readonly TrackedEvent<TrackedFinding>[] {
    if (!this.isActive || events.count === 0) return NOTHING;
    const { batch } = events;
    const told: TrackedEvent<TrackedFinding>[] = [];
    for (let event = 0; event < events.count; event++) {
      const rule = this.#rules.get(events.ruleName(event) ?? '');
      if (rule === undefined) continue;
      const row = events.report[event]!;
      if (((events.kind[event]! >>> KIND.STATE_SHIFT) & KIND.STATE_MASK) !== CLOSE) {
        this.#find(events, event, rule, told);
        continue;
      }
      const key = keyOf(rule.key, batch, row, batch.hopStart[row]!);
      told.push(...this.#tracker.end(rule, key, timeOf(batch, row)));
    }
    return told;
  }

  /** Ends events whose findings have stopped, and tells of those that last: call it now and then while nothing arrives. */
  advance(timeMs: number): readonly TrackedEvent<TrackedFinding>[] {
    const told: TrackedEvent<TrackedFinding>[] = [];
    this.#tick(timeMs, told);
    return told;
  }

  #tick(timeMs: number, told: TrackedEvent<TrackedFinding>[]): void {
    if (Math.abs(timeMs - this.#advancedMs) < ADVANCE_MS || this.#tracker.size === 0) return;
    this.#advancedMs = timeMs;
    told.push(...this.#tracker.advance(timeMs));
  }

  /** Has a row tell itself that an event begins or goes on. */
  #place(events: EventBatch, row: number, open: TrackedEvent<TrackedFinding>): void {
    this.#placed.add(open);
    events.kind[row] = (events.kind[row]! & ~(KIND.STATE_MASK << KIND.STATE_SHIFT)) | (OPEN << KIND.STATE_SHIFT);
    events.setLife(row, this.lifeOf(open));
  }

  /** Tracks a finding. Returns what it tells of an event that begins or goes on; `null`: nothing. */
  #find(
    events: EventBatch,
    event: number,
    rule: Tracked,
    told: TrackedEvent<TrackedFinding>[],
  ): TrackedEvent<TrackedFinding> | null {
    const { batch } = events;
    const row = events.report[event]!;
    const isHop = ((events.kind[event]! >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK) === HOP;
    const at = batch.hopStart[row]! + (isHop ? events.hop[event]! : 0);
    const make = (): TrackedFinding => {
      const object = events.event(event);
      const key = keyText(rule.key, batch, at, object);
      const finding = { event: object, frame: batch.frame[row]!, timeNs: batch.timeNs(row), key };
      this.#copies.set(finding, new EventCopy(events, event));
      return finding;
    };
    const found = this.#tracker.find(rule, keyOf(rule.key, batch, row, at), timeOf(batch, row), make);
    told.push(...found);
    return found.findLast(({ state }) => state === 'open') ?? null;
  }

  /** Looks for values that end events of rules with `clear`, or keep them open. */
  #see(batch: TelemetryBatch, row: number, told: TrackedEvent<TrackedFinding>[]): void {
    const view = this.#view!;
    for (const rule of this.#clears) {
      const { match, key, rule: of } = rule;
      if (!this.#tracker.has(rule.name) || !match!.isMatch(view, row)) continue;
      const { detector } = of;
      if (detector.kind !== 'threshold') continue;
      const column = batch.hop[detector.metric];
      const timeMs = timeOf(batch, row);
      const first = batch.hopStart[row]!;
      let sum = -1;
      for (let at = first; at < first + batch.hopCount[row]!; at++) {
        const value = column[at]!;
        if (value === NOT_AVAILABLE || match!.hops?.fits(view, at) === false) continue;
        if (detector.scope === 'hop') told.push(...this.#tracker.see(rule, keyOf(key, batch, row, at), timeMs, value));
        else sum = Math.max(sum, 0) + value;
      }
      if (sum >= 0) told.push(...this.#tracker.see(rule, keyOf(key, batch, row, first), timeMs, sum));
    }
  }
}

function timeOf(batch: TelemetryBatch, row: number): number {
  const frame = batch.frame[row]!;
  return (batch.frameTimeHigh[frame]! * 2 ** 32 + batch.frameTimeLow[frame]!) / 1e6;
}

/** A key as the tracker compares it. @param at row of the hop columns */
function keyOf(key: WatchKey, batch: TelemetryBatch, row: number, at: number): string {
  const { hop } = batch;
  switch (key) {
    case 'switch':
      return String(hop.nodeId[at]!);
    case 'queue':
      return `${hop.nodeId[at]!} ${hop.queueId[at]!}`;
    case 'link':
      return `${hop.nodeId[at]!} ${hop.l1EgressInterface[at]!}`;
    case 'all':
      return '';
    case 'flow': {
      const { source0, source1, source2, source3, destination0, destination1, destination2, destination3 } = batch;
      const isIpv6 = (batch.flags[row]! & FLAG.IPV6) !== 0;
      const short = `${batch.protocol[row]!} ${batch.ports[row]!} ${source0[row]!} ${destination0[row]!}`;
      if (!isIpv6) return short;
      const source = `${source1[row]!} ${source2[row]!} ${source3[row]!}`;
      return `${short} ${source} ${destination1[row]!} ${destination2[row]!} ${destination3[row]!}`;
    }
  }
}

function keyText(key: WatchKey, { hop }: TelemetryBatch, at: number, { flow }: Event): string {
  const number = (value: number): string => (value === NOT_AVAILABLE ? '?' : String(value));
  switch (key) {
    case 'switch':
      return `switch ${number(hop.nodeId[at]!)}`;
    case 'queue':
      return `switch ${number(hop.nodeId[at]!)} queue ${number(hop.queueId[at]!)}`;
    case 'link':
      return `switch ${number(hop.nodeId[at]!)} egress ${number(hop.l1EgressInterface[at]!)}`;
    case 'all':
      return 'all';
    case 'flow': {
      if (flow === null) return 'unknown flow';
      const { source, destination, sourcePort, destinationPort, protocol } = flow;
      return `${source} ${sourcePort} > ${destination} ${destinationPort} protocol ${protocol}`;
    }
  }
}
