import { Classifier } from '../classify/classifier.js';
import { type RuleProblem, RulesError } from '../errors.js';
import { isAny, isSameMatch, isWatch, type Match, type Rule, type RuleSet } from '../rules/model.js';
import { overlaps } from '../rules/overlap.js';
import type { Watches } from '../watch/watches.js';
import type { BatchView } from './batch-view.js';
import { checkRule } from './check-rule.js';
import { RowMatch } from './row-match.js';
import { RunningRule } from './running-rule.js';
import { type StateKey, type StatePool, stateOf } from './state.js';

function isSameRule(a: Rule, b: Rule): boolean {
  const text = (rule: Rule): string =>
    JSON.stringify(rule, (_, value: unknown) => (value instanceof Map ? [...value] : value));
  return text(a) === text(b);
}

/** Whether a match has parts that the classifier does not know. */
function isSpecial({ hops, dscp, group, sourceGroup, destinationGroup }: Match): boolean {
  return [hops, dscp, group, sourceGroup, destinationGroup].some((part) => (part ?? null) !== null);
}

/** A rule that is compared with each report on its own. */
export interface SpecialRule {
  readonly slot: number;
  readonly priority: number;
  readonly match: RowMatch;
}

/**
 * The rules in force. A rule keeps its slot while it is changed. A change happens as a whole or, with a RulesError, not
 * at all.
 */
export class RuleBook {
  readonly capacity: number;
  /** What the loops read, by slot. */
  readonly running: (RunningRule | undefined)[] = [];
  isDefaultReport = true;
  classifier: Classifier;
  /** The rule that matches everything and has the highest priority; -1: none. */
  everything = -1;
  /** Whether every rule that matches looks, and not only the first. */
  isAll = false;
  /** The rules that the classifier does not know, highest priority first: with `decide: all` all of them. */
  specials: readonly SpecialRule[] = [];
  /** Whether a rule reads the bytes of frames. */
  needsBytes = false;
  /** Whether any rule keeps state by flow, or samples. */
  needsFlow = false;
  /** Whether a rule samples by time, or watches it. */
  needsTime = false;
  readonly #pool: StatePool;
  readonly #rules: (Rule | undefined)[] = [];
  readonly #slots = new Map<string, number>();
  readonly #free: number[] = [];
  readonly #onNewSlot: (slot: number) => void;
  readonly #watches: Watches;

  constructor(capacity: number, pool: StatePool, watches: Watches, onNewSlot: (slot: number) => void) {
    this.capacity = capacity;
    this.#pool = pool;
    this.#watches = watches;
    this.#onNewSlot = onNewSlot;
    this.classifier = new Classifier(capacity);
  }

  /** Rules in force, by slot order. */
  rules(): Rule[] {
    return this.#rules.filter((rule) => rule !== undefined);
  }

  name(slot: number): string | null {
    return this.#rules[slot]?.name ?? null;
  }

  slot(name: string): number {
    return this.#slots.get(name) ?? -1;
  }

  /** Replaces all rules; those of the same name keep their slot. */
  setAll({ rules, default: otherwise, decide = 'first' }: RuleSet): void {
    const isAll = decide === 'all';
    const problems: RuleProblem[] = [];
    const refuse = (index: number, code: RuleProblem['code'], message: string): void => {
      problems.push({ code, path: ['rules', index], message });
    };
    const names = new Set<string>();
    rules.forEach((rule, index) => {
      checkRule(rule);
      if (names.has(rule.name)) refuse(index, 'DUPLICATE_NAME', `a second rule named '${rule.name}'`);
      names.add(rule.name);
    });
    // Slots first: those of rules that stay, then free ones, then new ones.
    const kept = new Set(rules.flatMap(({ name }) => this.#slots.get(name) ?? []));
    const open = this.#rules.flatMap((_, slot) => (kept.has(slot) ? [] : [slot]));
    let next = this.#rules.length;
    const slots = rules.map(({ name }) => this.#slots.get(name) ?? open.shift() ?? next++);
    const states = rules.flatMap((rule, index) => stateOf(rule, isAll ? slots[index]! : null));
    this.#checkRoom(rules.length, states, (code, message) => refuse(rules.length - 1, code, message));
    const classifier = new Classifier(this.capacity);
    if (problems.length === 0 && !isAll) {
      const specials: Rule[] = [];
      rules.forEach((rule, index) => {
        const other = classifier.conflict(rule.priority, rule.match);
        const rival = isSpecial(rule.match)
          ? rules.slice(0, index).find((each) => isRival(each, rule))
          : other < 0
            ? specials.find((each) => isRival(each, rule))
            : rules[slots.indexOf(other)]!;
        if (rival !== undefined) refuse(index, 'OVERLAP', overlapText(rule, rival));
        else if (isSpecial(rule.match)) specials.push(rule);
        else classifier.insert(slots[index]!, rule.priority, rule.match);
      });
    }
    if (problems.length > 0) throw new RulesError(problems);

    const before = [...this.#rules];
    const running = [...this.running];
    this.#rules.length = 0;
    this.running.length = 0;
    this.#slots.clear();
    this.#free.length = 0;
    this.classifier = classifier;
    this.isDefaultReport = otherwise === 'report';
    const isOther = isAll !== this.isAll;
    this.isAll = isAll;
    rules.forEach((rule, index) => {
      const slot = slots[index]!;
      const old = before[slot];
      if (old?.name !== rule.name) this.#takeSlot(slot);
      this.#place(slot, rule);
      if (old === undefined || isOther || !isSameRule(old, rule)) return;
      // A threshold that has been moved is state, and survives with the rule.
      this.running[slot] = running[slot];
    });
    for (let slot = 0; slot < this.#rules.length; slot++) if (this.#rules[slot] === undefined) this.#free.push(slot);
    this.#summarize();
  }

  add(rule: Rule): void {
    checkRule(rule);
    if (this.#slots.has(rule.name)) {
      throw refusal('DUPLICATE_NAME', rule, 'there is a rule of that name: replace it, or choose another name');
    }
    const slot = this.#free.at(-1) ?? this.#rules.length;
    this.#checkRoom(this.#slots.size + 1, stateOf(rule, this.isAll ? slot : null), (code, message) => {
      throw refusal(code, rule, message);
    });
    this.#checkConflict(rule, -1);
    this.#free.pop();
    if (!this.isAll && !isSpecial(rule.match)) this.classifier.insert(slot, rule.priority, rule.match);
    this.#takeSlot(slot);
    this.#place(slot, rule);
    this.#summarize();
  }

  /** Replaces the rule of the same name. */
  replace(rule: Rule): void {
    checkRule(rule);
    const slot = this.#known(rule.name);
    const old = this.#rules[slot]!;
    this.#checkRoom(this.#slots.size, stateOf(rule, this.isAll ? slot : null), (code, message) => {
      throw refusal(code, rule, message);
    });
    if (old.priority !== rule.priority || !isSameMatch(old.match, rule.match)) {
      this.#checkConflict(rule, slot);
      this.#withdraw(slot, old);
      if (!this.isAll && !isSpecial(rule.match)) this.classifier.insert(slot, rule.priority, rule.match);
    }
    this.#place(slot, rule);
    this.#summarize();
  }

  remove(name: string): void {
    const slot = this.#known(name);
    this.#withdraw(slot, this.#rules[slot]!);
    this.#rules[slot] = undefined;
    this.running[slot] = undefined;
    this.#slots.delete(name);
    this.#free.push(slot);
    this.#summarize();
  }

  /** Moves the threshold of a rule and, in proportion, the thresholds of switches with another unit. */
  setThreshold(name: string, threshold: number): void {
    const { detector, running } = this.#withThreshold(name);
    if (!Number.isInteger(threshold) || threshold < 0 || threshold > 0xffffffff) {
      throw new RangeError(`rule '${name}': threshold must be an integer from 0 to 2^32 - 1, not ${threshold}`);
    }
    const ratio = detector.threshold === 0 ? 1 : threshold / detector.threshold;
    const switches =
      'switchThresholds' in detector && detector.switchThresholds !== undefined
        ? new Map(
            [...detector.switchThresholds].map(([id, value]) => [id, Math.min(0xffffffff, Math.round(value * ratio))]),
          )
        : undefined;
    running.setThreshold(threshold, switches);
  }

  /** The threshold in force. */
  threshold(name: string): number {
    return this.#withThreshold(name).running.threshold >>> 0;
  }

  #withThreshold(name: string) {
    const slot = this.#known(name);
    const { detector } = this.#rules[slot]!;
    if (!('threshold' in detector)) throw new RangeError(`rule '${name}': ${detector.kind} has no threshold`);
    return { detector, running: this.running[slot]! };
  }

  #known(name: string): number {
    const slot = this.slot(name);
    if (slot < 0) throw new RangeError(`there is no rule '${name}'`);
    return slot;
  }

  /** A new rule gets a slot: nothing of the rule before it is left there. */
  #takeSlot(slot: number): void {
    this.#pool.clear(slot);
    this.#onNewSlot(slot);
  }

  #withdraw(slot: number, { match }: Rule): void {
    if (!this.isAll && !isSpecial(match)) this.classifier.remove(slot);
  }

  /**
   * Of the special rules and the one that the classifier found: the slot of the rule that decides a report.
   * @param found a slot, or a negative number
   */
  decide(view: BatchView, row: number, found: number): number {
    const { specials } = this;
    const priority = found < 0 ? Number.NEGATIVE_INFINITY : this.#rules[found]!.priority;
    for (let k = 0; k < specials.length; k++) {
      const special = specials[k]!;
      if (special.priority < priority) break;
      if (special.match.isMatch(view, row)) return special.slot;
    }
    return found;
  }

  #checkRoom(count: number, states: readonly StateKey[], refuse: (code: 'CAPACITY', message: string) => void): void {
    if (count > this.capacity) refuse('CAPACITY', `${count} rules: the detector was made for ${this.capacity}`);
    const missing = this.#pool.missing(states);
    if (missing > this.#pool.free) {
      refuse(
        'CAPACITY',
        `state of ${missing} more bytes is needed, ${this.#pool.free} are left: make the detector with a larger stateBytes`,
      );
    }
  }

  #checkConflict(rule: Rule, except: number): void {
    if (this.isAll) return;
    const rules = isSpecial(rule.match)
      ? this.#rules.entries()
      : this.specials.map(({ slot }) => [slot, this.#rules[slot]] as const);
    for (const [slot, other] of rules) {
      if (other === undefined || slot === except || !isRival(other, rule)) continue;
      throw refusal('OVERLAP', rule, overlapText(rule, other));
    }
    if (isSpecial(rule.match)) return;
    const other = this.classifier.conflict(rule.priority, rule.match, except);
    if (other >= 0) throw refusal('OVERLAP', rule, overlapText(rule, this.#rules[other]!));
  }

  #place(slot: number, rule: Rule): void {
    this.#rules[slot] = rule;
    this.#slots.set(rule.name, slot);
    const running = new RunningRule(slot, rule, this.#pool, this.isAll);
    if (isWatch(rule.detector)) running.watch = this.#watches.take(rule.name, rule.detector, slot);
    this.running[slot] = running;
  }

  #summarize(): void {
    let first: Rule | undefined;
    let needsFlow = false;
    let needsTime = false;
    const watched = new Set<string>();
    for (const [slot, rule] of this.#rules.entries()) {
      if (rule === undefined) continue;
      if (first === undefined || rule.priority > first.priority) first = rule;
      needsFlow ||= this.running[slot]!.needsFlow;
      const { sampleNs, watch } = this.running[slot]!;
      needsTime ||= sampleNs > 0 || watch !== null;
      if (watch !== null) watched.add(rule.name);
    }
    this.#watches.keep(watched);
    this.everything = !this.isAll && first !== undefined && isAny(first.match) ? this.slot(first.name) : -1;
    this.specials = [...this.#rules.entries()]
      .flatMap(([slot, rule]) => {
        if (rule === undefined || !(this.isAll || isSpecial(rule.match))) return [];
        return [{ slot, priority: rule.priority, match: new RowMatch(rule.match) }];
      })
      .sort((a, b) => b.priority - a.priority || a.slot - b.slot);
    this.needsBytes = this.classifier.usesMac || this.specials.some(({ match }) => match.needsBytes);
    this.needsFlow = needsFlow;
    this.needsTime = needsTime;
  }
}

/** Whether two rules have one priority and can match the same packet. */
const isRival = (a: Rule, b: Rule): boolean => a.priority === b.priority && overlaps(a.match, b.match);

function refusal(code: RuleProblem['code'], rule: Rule, message: string): RulesError {
  return new RulesError([{ code, path: ['rules', rule.name], message }]);
}

function overlapText(rule: Rule, other: Rule): string {
  return `rules '${rule.name}' and '${other.name}' have priority ${rule.priority} and can match the same packet: give one of them another priority`;
}
