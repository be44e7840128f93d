import type { Entity } from '@int/p4runtime';
import type { DesiredEntity, DesiredState } from '../change/desired-state.js';

/** A threshold of a rule in a switch's rule bank, and how it may move. */
export interface AdaptedRule {
  readonly switchId: number;
  /** Number of the rule, as the entries of `IntSink.algorithm_*` and the reports have it. */
  readonly rule: number;
  /** Events a second to hold. */
  readonly target: number;
  /** The band that the host has learnt for the metric, such as quantiles of its baseline, in units of the threshold. */
  readonly minimum: number;
  readonly maximum: number;
  /** The threshold at the start. */
  readonly initial: number;
}

export interface SwitchAdaptationOptions {
  /** Time over which events are counted before a threshold may move, in milliseconds. 1000 by default. */
  readonly windowMs?: number;
  /** Part of the target by which the rate may be off before a threshold moves. 0.25 by default. */
  readonly tolerance?: number;
  /** Moves of thresholds of one switch in a window, at most; those that are furthest off come first. 8 by default. */
  readonly movesPerWindow?: number;
  /** Values of events of a rule that are kept in a window: the first ones. 4096 by default. */
  readonly values?: number;
}

/** A threshold that moves. */
export interface ThresholdMove {
  readonly switchId: number;
  readonly rule: number;
  readonly from: number;
  readonly to: number;
  /** Events a second in the last window. */
  readonly rate: number;
}

/** State of a rule's threshold. */
export interface AdaptedThreshold {
  readonly switchId: number;
  readonly rule: number;
  readonly target: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly threshold: number;
  readonly rate: number;
  /** Where it would go, if it may not move now; otherwise as `threshold`. */
  readonly wanted: number;
  /** `at-minimum`, `at-maximum`: the target is out of reach within the learnt band. `waiting`: others move first, or none may. */
  readonly status: 'moving' | 'holding' | 'at-minimum' | 'at-maximum' | 'waiting';
}

interface Member {
  spec: AdaptedRule;
  threshold: number;
  events: number;
  values: number[];
  rate: number;
  wanted: number;
  status: AdaptedThreshold['status'];
}

const WORD = 2 ** 32 - 1;
/** A threshold falls to this part of its distance from the lower end when there are too few events to learn from. */
const FALL = 0.5;
/** A threshold that would move by less stays. */
const LEAST_MOVE = 0.02;

/**
 * Moves the thresholds of detectors in switches so that each rule raises events at its target rate: the controller's part of event
 * detection in the data plane. A function of events and time. The host sees only what exceeds a threshold. Where that is too
 * much, the values themselves show which threshold lets the target pass; where it is too little, the threshold falls by steps
 * towards the lower end of the learnt band. Within the tolerance it stays, so that chance moves nothing.
 */
export class SwitchAdaptation {
  readonly #members = new Map<string, Member>();
  readonly #windowMs: number;
  readonly #tolerance: number;
  readonly #moves: number;
  readonly #values: number;
  #sinceMs = Number.NaN;
  /** Events of rules that do not adapt. */
  untracked = 0;

  /** @throws RangeError for numbers out of range, TypeError for two specs of one rule */
  constructor(rules: readonly AdaptedRule[], options: SwitchAdaptationOptions = {}) {
    const { windowMs = 1000, tolerance = 0.25, movesPerWindow = 8, values = 4096 } = options;
    if (!(windowMs >= 10)) throw new RangeError(`windowMs is ${windowMs}, and 10 is the least`);
    if (!(tolerance > 0 && tolerance < 1))
      throw new RangeError(`tolerance is ${tolerance}, and must be between 0 and 1`);
    if (!(movesPerWindow >= 1)) throw new RangeError(`movesPerWindow is ${movesPerWindow}, and 1 is the least`);
    if (!(values >= 16)) throw new RangeError(`values is ${values}, and 16 is the least`);
    this.#windowMs = windowMs;
    this.#tolerance = tolerance;
    this.#moves = movesPerWindow;
    this.#values = values;
    this.follow(rules);
  }

  /**
   * Adapts these rules from now on, and no others. Those that it knows keep their thresholds and their bands.
   * @throws RangeError for numbers out of range, TypeError for two specs of one rule
   */
  follow(rules: readonly AdaptedRule[]): void {
    const kept = new Map<string, Member>();
    for (const spec of rules) {
      const key = keyOf(spec.switchId, spec.rule);
      if (kept.has(key)) throw new TypeError(`rule ${spec.rule} of switch ${spec.switchId} is there twice`);
      check(spec);
      const known = this.#members.get(key);
      if (known !== undefined) {
        known.spec = { ...known.spec, target: spec.target };
        kept.set(key, known);
        continue;
      }
      const threshold = Math.min(Math.max(spec.initial, spec.minimum), spec.maximum);
      kept.set(key, { spec, threshold, events: 0, values: [], rate: 0, wanted: threshold, status: 'moving' });
    }
    this.#members.clear();
    for (const [key, member] of kept) this.#members.set(key, member);
  }

  /** Takes over a band that the host has learnt anew. Other rules go on. @throws RangeError; TypeError for an unknown rule */
  learn(switchId: number, rule: number, minimum: number, maximum: number): void {
    const member = this.#members.get(keyOf(switchId, rule));
    if (member === undefined) throw new TypeError(`rule ${rule} of switch ${switchId} does not adapt`);
    const spec = { ...member.spec, minimum, maximum };
    check(spec);
    member.spec = spec;
  }

  /** An event that a switch has reported, with the value that exceeded the threshold. */
  observe(switchId: number, rule: number, value: number): void {
    const member = this.#members.get(keyOf(switchId, rule));
    if (member === undefined) {
      this.untracked++;
      return;
    }
    member.events++;
    if (member.values.length < this.#values) member.values.push(value);
  }

  /** Begins a window anew: not all of its events were seen. */
  restart(nowMs: number): void {
    this.#sinceMs = nowMs;
    for (const member of this.#members.values()) {
      member.events = 0;
      member.values.length = 0;
    }
  }

  /**
   * @param most thresholds that may move now
   * @returns those that do; most times none
   */
  step(nowMs: number, most = Number.POSITIVE_INFINITY): readonly ThresholdMove[] {
    if (Number.isNaN(this.#sinceMs)) this.#sinceMs = nowMs;
    const seconds = (nowMs - this.#sinceMs) / 1000;
    if (seconds * 1000 < this.#windowMs) return [];
    this.#sinceMs = nowMs;
    const moves: { readonly member: Member; readonly to: number; readonly error: number }[] = [];
    for (const member of this.#members.values()) {
      member.rate = member.events / seconds;
      const to = this.#next(member, seconds);
      member.wanted = to;
      if (to !== member.threshold) {
        const error = Math.abs(Math.log((member.rate + 0.01) / member.spec.target));
        moves.push({ member, to, error });
      }
      member.events = 0;
      member.values.length = 0;
    }
    const left = new Map<number, number>();
    let room = most;
    return moves
      .sort((one, other) => other.error - one.error)
      .flatMap(({ member, to }): ThresholdMove[] => {
        const { switchId, rule } = member.spec;
        const here = left.get(switchId) ?? this.#moves;
        if (here <= 0 || room <= 0) {
          member.status = 'waiting';
          return [];
        }
        left.set(switchId, here - 1);
        room--;
        const from = member.threshold;
        member.threshold = to;
        return [{ switchId, rule, from, to, rate: member.rate }];
      });
  }

  get thresholds(): readonly AdaptedThreshold[] {
    return [...this.#members.values()].map(({ spec, threshold, rate, wanted, status }) => ({
      ...{ switchId: spec.switchId, rule: spec.rule, target: spec.target },
      ...{ minimum: spec.minimum, maximum: spec.maximum, threshold, rate, wanted, status },
    }));
  }

  /** A desired state with the thresholds as they are now, in entries whose action is `fast_detection` of a rule that adapts. */
  apply(desired: DesiredState): DesiredState {
    return new Map([...desired].map(([id, entities]) => [id, entities.map((each) => this.#applied(id, each))]));
  }

  /** The threshold that the events of a window ask for. */
  #next(member: Member, seconds: number): number {
    const { spec, threshold, rate, events, values } = member;
    const { target, minimum, maximum } = spec;
    const inBand = Math.min(Math.max(threshold, minimum), maximum);
    member.status = 'holding';
    if (inBand !== threshold) return inBand;
    if (Math.abs(rate - target) <= this.#tolerance * target) return threshold;
    let to = threshold;
    if (rate > target) {
      // Of the values that were kept, the part that is to pass.
      const sorted = [...values].sort((one, other) => other - one);
      const passing = Math.floor((target * seconds * sorted.length) / events);
      to = Math.max(sorted[Math.min(passing, sorted.length - 1)] ?? threshold, threshold + 1);
    } else {
      // An exponential tail would need log(target / rate) of its mean; of that half, for the tail below is not seen.
      const excess =
        values.reduce((sum, value) => sum + Math.max(0, value - threshold), 0) / Math.max(1, values.length);
      const step = values.length >= 8 ? 0.5 * excess * Math.log(target / rate) : FALL * (threshold - minimum);
      to = threshold - Math.min(Math.max(1, step), FALL * (threshold - minimum) + 1);
    }
    to = Math.round(Math.min(Math.max(to, minimum), maximum));
    if (to === threshold) {
      if (rate > target && threshold === maximum) member.status = 'at-maximum';
      else if (rate < target && threshold === minimum) member.status = 'at-minimum';
      return threshold;
    }
    if (Math.abs(to - threshold) < LEAST_MOVE * threshold) {
      // The last step to an end is worth it.
      if (rate > target && to !== maximum) return threshold;
      if (rate < target && values.length === 0) to = minimum;
      else if (to !== minimum && to !== maximum) return threshold;
    }
    member.status = 'moving';
    return to;
  }

  #applied(switchId: number, desired: DesiredEntity): DesiredEntity {
    const entity = this.#retuned(switchId, desired.entity);
    return entity === desired.entity ? desired : { ...desired, entity };
  }

  #retuned(switchId: number, entity: Entity): Entity {
    if (entity.kind !== 'table-entry' || entity.action === undefined || !('params' in entity.action)) return entity;
    const { action, params } = entity.action;
    if (!/(^|\.)fast_detection$/.test(action)) return entity;
    const member = this.#members.get(keyOf(switchId, Number(params.rule)));
    if (member === undefined) return entity;
    return { ...entity, action: { action, params: { ...params, threshold: BigInt(member.threshold) } } };
  }
}

const keyOf = (switchId: number, rule: number): string => `${switchId} ${rule}`;

function check({ target, minimum, maximum, initial }: AdaptedRule): void {
  if (!(target > 0 && Number.isFinite(target))) throw new RangeError(`target is ${target}, and must be above 0`);
  for (const [name, value] of Object.entries({ minimum, maximum, initial })) {
    if (!Number.isInteger(value) || value < 0 || value > WORD) {
      throw new RangeError(`${name} is ${value}, and must be an integer from 0 to 2^32 - 1`);
    }
  }
  if (minimum > maximum) throw new RangeError(`minimum ${minimum} is above maximum ${maximum}`);
}
