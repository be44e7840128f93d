import type { Detector } from '../engine/detector.js';
import type { EventBatch } from '../engine/event-batch.js';
import { KIND, NO_RULE } from '../engine/event-columns.js';
import { DETECTOR_KINDS, type DetectorKind, type Rule } from '../rules/model.js';
import type { AdaptiveStatus, StatisticKind } from './control.js';
import { checkTarget, ThresholdController } from './controller.js';

/** What {@link Adaptation} needs of a detector. */
export interface AdaptiveDetector
  extends Pick<Detector, 'rules' | 'slotOf' | 'threshold' | 'setThreshold' | 'reportsOf'> {}

/** The columns of an event batch that {@link Adaptation} reads. */
export interface EventRows extends Pick<EventBatch, 'count' | 'rule' | 'kind' | 'value' | 'previous' | 'threshold'> {}

/** How {@link Adaptation} works. */
export interface AdaptationOptions {
  /**
   * Events a second of all rules together, also of those that do not adapt. Thresholds then move by a common factor,
   * and the targets of single rules do not count. `null`: each rule that adapts holds its own target. Default `null`.
   */
  readonly total?: number | null;
  /** Shortest time between two moves in milliseconds, 1 to 1000. Default 10. */
  readonly intervalMs?: number;
}

/** State of one rule that adapts, or of the total. */
export interface AdaptationState {
  /** The rule; `null`: the total. */
  readonly rule: string | null;
  /** Events a second. */
  readonly target: number;
  readonly rate: number;
  readonly status: AdaptiveStatus;
  /** The threshold; of the total, the factor between thresholds and those configured. */
  readonly threshold: number;
}

const MAXIMUM_INTERVAL_MS = 1000;
const LEVEL_KIND = /* @__PURE__ */ DETECTOR_KINDS.indexOf('threshold');

/** How the statistic of each kind of detector depends on its threshold; not there: the detector has no threshold. */
const STATISTICS: { readonly [K in DetectorKind]?: StatisticKind } = {
  threshold: 'level',
  change: 'level',
  perHop: 'difference',
  perFlow: 'difference',
  movingAverage: 'difference',
};

/** A rule that adapts. */
interface Member {
  readonly rule: Rule;
  readonly name: string;
  readonly slot: number;
  readonly kind: StatisticKind;
  /** `null` under a total. */
  readonly controller: ThresholdController | null;
  threshold: number;
  /** Reports looked at up to the last tick. */
  reports: number;
}

/**
 * Moves the thresholds of a detector's rules that have `adapt`: call {@link after} after each batch, with the events it
 * raised. Only {@link refresh} and {@link states} allocate.
 */
export class Adaptation {
  readonly #detector: AdaptiveDetector;
  readonly #target: number | null;
  readonly #intervalMs: number;
  #members: readonly Member[] = [];
  /** Index of the member, by slot; -1: none. */
  #memberOfSlot: Int32Array = new Int32Array(0);
  #total: ThresholdController | null = null;
  #lastMs = Number.NaN;

  /** @throws RangeError for options out of range, TypeError for a rule that adapts but has no threshold */
  constructor(detector: AdaptiveDetector, { total = null, intervalMs = 10 }: AdaptationOptions = {}) {
    if (!(intervalMs >= 1 && intervalMs <= MAXIMUM_INTERVAL_MS)) {
      throw new RangeError(`intervalMs must be a number from 1 to ${MAXIMUM_INTERVAL_MS}, not ${intervalMs}`);
    }
    this.#detector = detector;
    this.#target = total === null ? null : checkTarget(total);
    this.#intervalMs = intervalMs;
    this.refresh();
  }

  /** Bytes of its memory since the last {@link refresh}, save for a few objects. */
  get byteLength(): number {
    let bytes = this.#memberOfSlot.byteLength + (this.#total?.byteLength ?? 0);
    for (const { controller } of this.#members) bytes += controller?.byteLength ?? 0;
    return bytes;
  }

  /**
   * Takes over the rules as they are now. Call it after rules have been added, replaced or removed. A rule that has not
   * changed keeps what was learnt.
   */
  refresh(): void {
    const detector = this.#detector;
    const before = new Map(this.#members.map((member) => [member.rule, member]));
    const members = detector.rules().flatMap((rule) => {
      const { name, adapt } = rule;
      if (adapt === null) return [];
      const kind = STATISTICS[rule.detector.kind];
      if (kind === undefined) throw new TypeError(`rule '${name}': ${rule.detector.kind} has no threshold to adapt`);
      const slot = detector.slotOf(name);
      const known = before.get(rule);
      if (known?.slot === slot) return known;
      const initial = detector.threshold(name);
      const alone = [{ ...adapt, initial, kind }];
      const controller =
        this.#target === null ? new ThresholdController(adapt.target, alone, false, this.#intervalMs) : null;
      return { rule, name, slot, kind, controller, threshold: initial, reports: detector.reportsOf(slot) };
    });
    const changed = members.length !== this.#members.length || members.some((member, i) => member !== this.#members[i]);
    this.#members = members;
    this.#memberOfSlot = new Int32Array(members.reduce((most, { slot }) => Math.max(most, slot + 1), 0)).fill(-1);
    for (const [i, { slot }] of members.entries()) this.#memberOfSlot[slot] = i;
    if (this.#target !== null && changed) this.#total = this.#totalOf(this.#target, this.#total);
    this.#apply();
  }

  /**
   * Counts the events in rows `from` (default 0) to `events.count - 1`, and moves thresholds if it is time to. Call it
   * also when there were no events. `nowMs`: milliseconds of any origin, those of the reports or of a clock, but always
   * the same. See `ThresholdController.tick` for gaps and for time that goes backwards.
   */
  after(events: EventRows, nowMs: number, from = 0): void {
    if (!Number.isFinite(nowMs)) throw new RangeError(`nowMs must be a finite number, not ${nowMs}`);
    const urgent = this.#count(events, from);
    const elapsed = nowMs - this.#lastMs;
    if (elapsed >= 0 && elapsed < this.#intervalMs - 1e-6 && !urgent) return;
    if (!urgent || !(elapsed >= 0)) this.#lastMs = nowMs;
    this.#tick(nowMs);
  }

  /** The state of each rule that adapts, or of the total; for people and metrics. */
  states(): AdaptationState[] {
    const stateOf = (rule: string | null, threshold: number, controller: ThresholdController): AdaptationState => {
      const { target, rate, status } = controller;
      return { rule, target, rate, status, threshold };
    };
    const total = this.#total;
    if (total !== null) return [stateOf(null, total.position, total)];
    return this.#members.map(({ name, controller }) => stateOf(name, controller!.threshold(0), controller!));
  }

  #totalOf(target: number, before: ThresholdController | null): ThresholdController | null {
    if (this.#members.length === 0) return null;
    const members = this.#members.map(({ rule: { detector, adapt }, kind }) => ({
      ...adapt!,
      initial: 'threshold' in detector ? detector.threshold : 0,
      kind,
    }));
    const total = new ThresholdController(target, members, true, this.#intervalMs);
    if (before !== null) total.moveTo(before.position);
    return total;
  }

  /** Returns whether a controller should not wait for its tick. */
  #count(events: EventRows, from: number): boolean {
    const members = this.#members;
    const memberOfSlot = this.#memberOfSlot;
    const total = this.#total;
    const { rule, kind, value, previous, threshold, count } = events;
    let urgent = false;
    for (let row = from; row < count; row++) {
      const slot = rule[row]!;
      const index = slot < memberOfSlot.length ? memberOfSlot[slot]! : -1;
      if (index < 0) {
        if (total !== null && slot !== NO_RULE) total.count(1);
        continue;
      }
      const member = members[index]!;
      const is = value[row]!;
      let statistic = (kind[row]! & KIND.DETECTOR_MASK) === LEVEL_KIND ? is : Math.abs(is - previous[row]!);
      // A switch with another unit has a threshold of its own, in proportion.
      const own = threshold[row]!;
      if (own !== member.threshold) statistic = own === 0 ? 0 : (statistic / own) * member.threshold;
      if (total !== null) total.observe(index, statistic);
      else {
        const controller = member.controller!;
        controller.observe(0, statistic);
        if (controller.urgent) urgent = true;
      }
    }
    return total === null ? urgent : total.urgent;
  }

  #tick(nowMs: number): void {
    const members = this.#members;
    const total = this.#total;
    let all = 0;
    for (let i = 0; i < members.length; i++) {
      const member = members[i]!;
      const reports = this.#reportsSince(member);
      all += reports;
      if (total !== null) continue;
      const controller = member.controller!;
      // Somebody else may have set the threshold.
      const inForce = this.#detector.threshold(member.name);
      if (inForce !== member.threshold) controller.moveTo(inForce);
      controller.tick(nowMs, reports);
    }
    total?.tick(nowMs, all);
    this.#apply();
  }

  /** Sets the detector's thresholds to those of the controllers. */
  #apply(): void {
    const detector = this.#detector;
    const members = this.#members;
    const total = this.#total;
    for (let i = 0; i < members.length; i++) {
      const member = members[i]!;
      const threshold = total === null ? member.controller!.threshold(0) : total.threshold(i);
      if (detector.threshold(member.name) !== threshold) detector.setThreshold(member.name, threshold);
      member.threshold = threshold;
    }
  }

  #reportsSince(member: Member): number {
    const reports = this.#detector.reportsOf(member.slot);
    // A slot that was given to another rule may count from 0 again.
    const since = Math.max(0, reports - member.reports);
    member.reports = reports;
    return since;
  }
}
