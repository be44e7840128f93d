import { DETECTOR_KINDS, type DetectorKind, type Rule } from '../rules/model.js';
import type { AdaptiveStatus, StatisticKind } from './control.js';
import { checkInterval, checkTarget, ThresholdController } from './controller.js';
import { TotalController } from './total-controller.js';

/** What {@link Adaptation} needs of a detector. */
export interface AdaptiveDetector {
  /** The rules in force. */
  rules(): readonly Rule[];
  /** The number by which event rows name a rule; -1: there is no such rule. Other rules' numbers stay when one changes. */
  slotOf(name: string): number;
  /** The threshold in force. */
  threshold(name: string): number;
  setThreshold(name: string, threshold: number): void;
  /** Reports that the rule in a slot has looked at so far. */
  reportsOf(slot: number): number;
}

/** The columns of an event batch that {@link Adaptation} reads. */
export interface EventRows {
  /** Rows 0 to `count - 1` are valid. */
  readonly count: number;
  /** Slot of the rule; 2^32 - 1: none. */
  readonly rule: Uint32Array;
  /** Index in DETECTOR_KINDS in the low 8 bits. */
  readonly kind: Uint32Array;
  readonly value: Uint32Array;
  readonly previous: Uint32Array;
  readonly threshold: Uint32Array;
}

/** How {@link Adaptation} works. */
export interface AdaptationOptions {
  /**
   * Events a second of all rules together, those included that do not adapt; `null`: each rule that adapts holds its
   * own target. With a total, the rules' own targets are not held: thresholds move by a common factor. Default `null`.
   */
  readonly total?: number | null;
  /** Shortest time between two moves in milliseconds, 1 to 1000. Default 10. */
  readonly intervalMs?: number;
}

/** State of one rule that adapts; of all together where there is a total. */
export interface AdaptationState {
  /** The rule; `null`: the total. */
  readonly rule: string | null;
  /** Events a second. */
  readonly target: number;
  readonly rate: number;
  readonly status: AdaptiveStatus;
  /** The threshold; of the total, the factor by which thresholds differ from those configured. */
  readonly threshold: number;
}

const NO_RULE = 0xffffffff;
const KIND_MASK = 0xff;
const LEVEL_KIND = /* @__PURE__ */ DETECTOR_KINDS.indexOf('threshold');

/** `null` for a detector without threshold. */
function statisticOf(kind: DetectorKind): StatisticKind | null {
  switch (kind) {
    case 'threshold':
    case 'change':
      return 'level';
    case 'perHop':
    case 'perFlow':
    case 'movingAverage':
      return 'difference';
    default:
      return null;
  }
}

/** A rule that adapts. */
interface Member {
  readonly rule: Rule;
  readonly name: string;
  readonly slot: number;
  /** `null` under a total. */
  readonly controller: ThresholdController | null;
  threshold: number;
  /** Reports looked at up to the last tick. */
  reports: number;
}

/**
 * Moves the thresholds of a detector's rules that have `adapt`: call {@link after} after each batch, with the events it
 * raised. Nothing is allocated but by {@link refresh} and {@link states}.
 */
export class Adaptation {
  readonly #detector: AdaptiveDetector;
  readonly #target: number | null;
  readonly #intervalMs: number;
  #members: readonly Member[] = [];
  /** Index of the member, by slot; -1: none. */
  #memberOfSlot: Int32Array = new Int32Array(0);
  #total: TotalController | null = null;
  #lastMs = Number.NaN;

  /** @throws RangeError for options out of range, TypeError for a rule that adapts but has no threshold */
  constructor(detector: AdaptiveDetector, options: AdaptationOptions = {}) {
    this.#detector = detector;
    this.#target = options.total === undefined || options.total === null ? null : checkTarget(options.total);
    this.#intervalMs = checkInterval(options.intervalMs);
    this.refresh();
  }

  /** Bytes of its memory since the last {@link refresh}, save for a few objects. */
  get byteLength(): number {
    let bytes = this.#memberOfSlot.byteLength + (this.#total?.byteLength ?? 0);
    for (const { controller } of this.#members) bytes += controller?.byteLength ?? 0;
    return bytes;
  }

  /**
   * Takes over the rules as they are now; call it when rules have been added, replaced or removed. Rules that have not
   * changed keep what was learnt.
   */
  refresh(): void {
    const detector = this.#detector;
    const intervalMs = this.#intervalMs;
    const before = new Map(this.#members.map((member) => [member.rule, member]));
    const members: Member[] = [];
    for (const rule of detector.rules()) {
      if (rule.adapt === null) continue;
      const kind = statisticOf(rule.detector.kind);
      if (kind === null) throw new TypeError(`rule '${rule.name}': ${rule.detector.kind} has no threshold to adapt`);
      const slot = detector.slotOf(rule.name);
      const known = before.get(rule);
      if (known !== undefined && known.slot === slot) {
        members.push(known);
        continue;
      }
      const { target, minimum, maximum } = rule.adapt;
      const initial = detector.threshold(rule.name);
      const controller =
        this.#target === null ? new ThresholdController({ target, minimum, maximum, initial, kind, intervalMs }) : null;
      members.push({ rule, name: rule.name, slot, controller, threshold: initial, reports: detector.reportsOf(slot) });
    }
    const changed = members.length !== this.#members.length || members.some((member, i) => member !== this.#members[i]);
    this.#members = members;
    this.#memberOfSlot = new Int32Array(members.reduce((most, { slot }) => Math.max(most, slot + 1), 0)).fill(-1);
    for (const [i, { slot }] of members.entries()) this.#memberOfSlot[slot] = i;
    if (this.#target !== null && changed) this.#total = this.#totalOf(this.#target, this.#total);
    this.#apply();
  }

  /**
   * Counts the events in rows `from` (default 0) to `events.count - 1`, and moves thresholds if it is time to. `nowMs`:
   * milliseconds of any origin, those of the reports or of a clock, but always of the same. Call it also when there were
   * no events. See `ThresholdController.tick` for gaps and for time that goes backwards.
   */
  after(events: EventRows, nowMs: number, from = 0): void {
    if (!Number.isFinite(nowMs)) throw new RangeError(`nowMs must be a finite number, not ${nowMs}`);
    const urgent = this.#count(events, from);
    const elapsed = nowMs - this.#lastMs;
    if (elapsed >= 0 && elapsed < this.#intervalMs - 1e-6 && !urgent) return;
    if (!urgent || !(elapsed >= 0)) this.#lastMs = nowMs;
    if (this.#total === null) this.#tickEach(nowMs);
    else this.#tickTotal(this.#total, nowMs);
  }

  /** The state of each rule that adapts, or of the total; for people and metrics. */
  states(): AdaptationState[] {
    const total = this.#total;
    if (total !== null) {
      const { target, rate, status, factor } = total;
      return [{ rule: null, target, rate, status, threshold: factor }];
    }
    return this.#members.map(({ name, controller }) => {
      const { target, rate, status, threshold } = controller!;
      return { rule: name, target, rate, status, threshold };
    });
  }

  #totalOf(target: number, before: TotalController | null): TotalController | null {
    if (this.#members.length === 0) return null;
    const total = new TotalController({
      target,
      members: this.#members.map(({ rule }) => ({
        minimum: rule.adapt!.minimum,
        maximum: rule.adapt!.maximum,
        initial: 'threshold' in rule.detector ? rule.detector.threshold : 0,
        kind: statisticOf(rule.detector.kind)!,
      })),
      intervalMs: this.#intervalMs,
    });
    if (before !== null) total.moveTo(before.factor);
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
      let statistic = (kind[row]! & KIND_MASK) === LEVEL_KIND ? is : Math.abs(is - previous[row]!);
      // A switch with another unit has a threshold of its own, in proportion.
      const own = threshold[row]!;
      if (own !== member.threshold) statistic = own === 0 ? 0 : (statistic / own) * member.threshold;
      if (total !== null) total.observe(index, statistic);
      else {
        const controller = member.controller!;
        controller.observe(statistic);
        if (controller.urgent) urgent = true;
      }
    }
    return total === null ? urgent : total.urgent;
  }

  #tickEach(nowMs: number): void {
    const detector = this.#detector;
    const members = this.#members;
    for (let i = 0; i < members.length; i++) {
      const member = members[i]!;
      const controller = member.controller!;
      const inForce = detector.threshold(member.name);
      if (inForce !== member.threshold) controller.moveTo(inForce);
      this.#set(member, inForce, controller.tick(nowMs, this.#reportsSince(member)));
    }
  }

  #tickTotal(total: TotalController, nowMs: number): void {
    const members = this.#members;
    let reports = 0;
    for (let i = 0; i < members.length; i++) reports += this.#reportsSince(members[i]!);
    total.tick(nowMs, reports);
    this.#apply();
  }

  #apply(): void {
    const detector = this.#detector;
    const members = this.#members;
    const total = this.#total;
    for (let i = 0; i < members.length; i++) {
      const member = members[i]!;
      const threshold = total === null ? member.controller!.threshold : total.threshold(i);
      this.#set(member, detector.threshold(member.name), threshold);
    }
  }

  #set(member: Member, inForce: number, threshold: number): void {
    if (inForce !== threshold) this.#detector.setThreshold(member.name, threshold);
    member.threshold = threshold;
  }

  #reportsSince(member: Member): number {
    const reports = this.#detector.reportsOf(member.slot);
    // A slot that was given to another rule may count from 0 again.
    const since = Math.max(0, reports - member.reports);
    member.reports = reports;
    return since;
  }
}
