import { FLAG, type TelemetryBatch } from '@int/codec';
import type { DesiredEntity, DesiredState } from '../change/desired-state.js';
import type { DetectIntent, Intent } from '../intents/intent.js';
import { EventValue } from './event-value.js';
import { LearntBand } from './learnt-band.js';
import { ReportMark } from './report-mark.js';
import { type AdaptedThreshold, SwitchAdaptation, type ThresholdMove } from './switch-adaptation.js';

const WINDOW_MS = 5000;
const LEARN_MS = 60_000;
/** Until a band is known, nothing is an event. */
const NO_BAND = { minimum: 0xffff_ffff, maximum: 0xffff_ffff };

export interface EventThresholdsOptions {
  /** Time over which events are counted before a threshold may move, in milliseconds. Default 5000. */
  readonly windowMs?: number;
  /** Time of regular reports until a band is known, in milliseconds. Default 60,000. */
  readonly learnMs?: number;
}

/** A threshold in a switch, and the intent that it is of. */
export interface EventThreshold extends AdaptedThreshold {
  readonly intent: string;
  /** The host does not know yet what is usual. */
  readonly isLearning: boolean;
}

/** What is to be known of a threshold after a restart. */
export type ThresholdMemory = Pick<EventThreshold, 'switchId' | 'rule' | 'threshold' | 'minimum' | 'maximum'>;

interface Rule {
  readonly switchId: number;
  readonly rule: number;
  readonly intent: DetectIntent;
  readonly value: EventValue;
  readonly band: LearntBand | null;
  threshold: number;
  isLearning: boolean;
}

/**
 * Thresholds of `detect` intents, which follow the events that come: a stage of a collector. It goes before the stages that count
 * traffic, for it marks events besides the sample (`FLAG.BESIDES`).
 */
export class EventThresholds {
  readonly name = 'detection';
  readonly #adaptation: SwitchAdaptation;
  readonly #learnMs: number;
  readonly #rules = new Map<string, Rule>();
  readonly #mark = new ReportMark();
  #remembered: ReadonlyMap<string, ThresholdMemory> = new Map();
  #events = 0;
  #untracked = 0;

  /** @throws RangeError for an option out of range */
  constructor({ windowMs = WINDOW_MS, learnMs = LEARN_MS }: EventThresholdsOptions = {}) {
    if (!(learnMs >= 1000 && Number.isFinite(learnMs)))
      throw new RangeError(`learnMs is ${learnMs}, and 1000 is the least`);
    this.#adaptation = new SwitchAdaptation([], { windowMs });
    this.#learnMs = learnMs;
  }

  process(batch: TelemetryBatch): void {
    const mark = this.#mark;
    mark.begin();
    for (let row = 0; row < batch.reports; row++) {
      if (batch.code[row] !== 0 || !mark.read(batch, row)) continue;
      const rule = this.#rules.get(keyOf(batch.nodeId[row]!, mark.rule));
      if (rule === undefined) {
        if (mark.isEvent) this.#untracked++;
        continue;
      }
      const value = rule.value.of(batch, row, mark.isEvent, rule.threshold);
      if (mark.isRegular) {
        if (value >= 0) rule.band?.add(value);
      } else batch.flags[row] = batch.flags[row]! | FLAG.BESIDES;
      if (!mark.isEvent) continue;
      this.#events++;
      this.#adaptation.observe(rule.switchId, rule.rule, value);
    }
  }

  /** Adapts the rules of a desired state. Those that it knows go on. */
  follow(desired: DesiredState, intents: readonly Intent[]): void {
    const byId = new Map(intents.flatMap((each) => (each.kind === 'detect' ? [[each.id, each] as const] : [])));
    const before = new Map(this.#rules);
    this.#rules.clear();
    for (const [switchId, entities] of desired) {
      for (const { entity, intents: ids } of entities) {
        const rule = ruleOf(entity);
        const intent = byId.get(ids[0] ?? '');
        if (rule === null || intent === undefined) continue;
        const key = keyOf(switchId, rule);
        this.#rules.set(key, this.#following(before.get(key), switchId, rule, intent));
      }
    }
    this.#adaptation.follow(
      [...this.#rules].map(([key, { switchId, rule, intent }]) => {
        const { threshold, ...band } = this.#remembered.get(key) ?? { threshold: NO_BAND.maximum, ...NO_BAND };
        return { ...(intent.band ?? band), ...{ switchId, rule, target: intent.target, initial: threshold } };
      }),
    );
    for (const { switchId, rule, intent } of this.#rules.values()) {
      if (intent.band !== null) this.#adaptation.learn(switchId, rule, intent.band.minimum, intent.band.maximum);
    }
    this.#note();
  }

  /** Keeps the thresholds at hand. */
  #note(): void {
    for (const { switchId, rule, threshold } of this.#adaptation.thresholds) {
      this.#rules.get(keyOf(switchId, rule))!.threshold = threshold;
    }
  }

  #following(before: Rule | undefined, switchId: number, rule: number, intent: DetectIntent): Rule {
    const learns = intent.band === null;
    const isSame = before !== undefined && (before.band !== null) === learns;
    return {
      ...{ switchId, rule, intent },
      value: before?.value ?? new EventValue(intent),
      band: isSame ? before.band : learns ? new LearntBand(this.#learnMs) : null,
      threshold: NO_BAND.maximum,
      isLearning: isSame ? before.isLearning : learns && !this.#remembered.has(keyOf(switchId, rule)),
    };
  }

  /** A desired state with the thresholds as they are now. */
  apply(desired: DesiredState): DesiredState {
    return this.#adaptation.apply(desired);
  }

  /** Begins a window anew: not all of its events were seen. */
  restart(nowMs: number): void {
    this.#adaptation.restart(nowMs);
  }

  /**
   * @param most thresholds that may move now
   * @returns those that do
   */
  step(nowMs: number, most?: number): readonly ThresholdMove[] {
    for (const rule of this.#rules.values()) {
      const band = rule.band?.advance(nowMs) ?? null;
      if (band === null) continue;
      rule.isLearning = false;
      this.#adaptation.learn(rule.switchId, rule.rule, band.minimum, band.maximum);
    }
    const moves = this.#adaptation.step(nowMs, most);
    if (moves.length > 0) this.#note();
    return moves;
  }

  get thresholds(): readonly EventThreshold[] {
    return this.#adaptation.thresholds.map((each) => {
      const { intent, isLearning } = this.#rules.get(keyOf(each.switchId, each.rule))!;
      return { ...each, intent: intent.id, isLearning };
    });
  }

  /** What {@link restore} takes. */
  get memory(): readonly ThresholdMemory[] {
    return this.thresholds
      .filter(({ isLearning }) => !isLearning)
      .map(({ switchId, rule, threshold, minimum, maximum }) => ({ switchId, rule, threshold, minimum, maximum }));
  }

  /** Goes on where another has ended, before the first {@link follow}. */
  restore(memory: readonly ThresholdMemory[]): void {
    this.#remembered = new Map(memory.map((each) => [keyOf(each.switchId, each.rule), each]));
  }

  counters(): Readonly<Record<string, number>> {
    return { events: this.#events, untracked: this.#untracked };
  }
}

const keyOf = (switchId: number, rule: number): string => `${switchId} ${rule}`;

/** The number of the rule of an entry; `null`: it has none. */
function ruleOf(entity: DesiredEntity['entity']): number | null {
  if (entity.kind !== 'table-entry' || entity.action === undefined || !('params' in entity.action)) return null;
  return entity.action.action === 'IntSink.fast_detection' ? Number(entity.action.params.rule) : null;
}
