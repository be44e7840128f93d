import { Classifier } from '../classify/classifier.js';
import { type RuleProblem, RulesError } from '../errors.js';
import { isAny, isSameMatch, type Rule, type RuleSet } from '../rules/model.js';
import { checkRule } from './check-rule.js';
import { RunningRule } from './running-rule.js';
import { type StatePool, stateOf } from './state.js';

function isSameRule(a: Rule, b: Rule): boolean {
  const text = (rule: Rule): string =>
    JSON.stringify(rule, (_, value: unknown) => (value instanceof Map ? [...value] : value));
  return text(a) === text(b);
}

/**
 * The rules in force. A rule keeps its slot while it is changed. A change happens as a whole or, with a RulesError, not
 * at
 * all.
 */
export class RuleBook {
  readonly capacity: number;
  /** What the loops read, by slot. */
  readonly running: (RunningRule | undefined)[] = [];
  isDefaultReport = true;
  classifier: Classifier;
  /** The rule that matches everything and has the highest priority; -1: none. */
  everything = -1;
  /** Whether any rule keeps state by flow, or samples. */
  needsFlow = false;
  /** Whether a rule samples by time. */
  needsTime = false;
  readonly #pool: StatePool;
  readonly #rules: (Rule | undefined)[] = [];
  readonly #slots = new Map<string, number>();
  readonly #free: number[] = [];
  readonly #onNewSlot: (slot: number) => void;

  constructor(capacity: number, pool: StatePool, onNewSlot: (slot: number) => void) {
    this.capacity = capacity;
    this.#pool = pool;
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
  setAll({ rules, default: otherwise }: RuleSet): void {
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
    this.#checkRoom(rules.length, rules, (code, message) => refuse(rules.length - 1, code, message));
    // Slots first: those of rules that stay, then free ones, then new ones.
    const kept = new Set(rules.flatMap(({ name }) => this.#slots.get(name) ?? []));
    const open = this.#rules.flatMap((_, slot) => (kept.has(slot) ? [] : [slot]));
    let next = this.#rules.length;
    const slots = rules.map(({ name }) => this.#slots.get(name) ?? open.shift() ?? next++);
    const classifier = new Classifier(this.capacity);
    if (problems.length === 0) {
      rules.forEach((rule, index) => {
        const other = classifier.conflict(rule.priority, rule.match);
        if (other < 0) classifier.insert(slots[index]!, rule.priority, rule.match);
        else refuse(index, 'OVERLAP', overlapText(rule, rules[slots.indexOf(other)]!));
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
    rules.forEach((rule, index) => {
      const slot = slots[index]!;
      const old = before[slot];
      if (old?.name !== rule.name) this.#onNewSlot(slot);
      this.#place(slot, rule);
      if (old === undefined || !isSameRule(old, rule)) return;
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
    this.#checkRoom(this.#slots.size + 1, [rule], (code, message) => {
      throw refusal(code, rule, message);
    });
    this.#checkConflict(rule, -1);
    const slot = this.#free.pop() ?? this.#rules.length;
    this.classifier.insert(slot, rule.priority, rule.match);
    this.#onNewSlot(slot);
    this.#place(slot, rule);
    this.#summarize();
  }

  /** Replaces the rule of the same name. */
  replace(rule: Rule): void {
    checkRule(rule);
    const slot = this.#known(rule.name);
    const old = this.#rules[slot]!;
    this.#checkRoom(this.#slots.size, [rule], (code, message) => {
      throw refusal(code, rule, message);
    });
    if (old.priority !== rule.priority || !isSameMatch(old.match, rule.match)) {
      this.#checkConflict(rule, slot);
      this.classifier.remove(slot);
      this.classifier.insert(slot, rule.priority, rule.match);
    }
    this.#place(slot, rule);
    this.#summarize();
  }

  remove(name: string): void {
    const slot = this.#known(name);
    this.classifier.remove(slot);
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

  #checkRoom(count: number, rules: readonly Rule[], refuse: (code: 'CAPACITY', message: string) => void): void {
    if (count > this.capacity) refuse('CAPACITY', `${count} rules: the detector was made for ${this.capacity}`);
    const missing = this.#pool.missing(rules.flatMap(stateOf));
    if (missing > this.#pool.free) {
      refuse(
        'CAPACITY',
        `state of ${missing} more bytes is needed, ${this.#pool.free} are left: make the detector with a larger stateBytes`,
      );
    }
  }

  #checkConflict(rule: Rule, except: number): void {
    const other = this.classifier.conflict(rule.priority, rule.match, except);
    if (other >= 0) throw refusal('OVERLAP', rule, overlapText(rule, this.#rules[other]!));
  }

  #place(slot: number, rule: Rule): void {
    this.#rules[slot] = rule;
    this.#slots.set(rule.name, slot);
    this.running[slot] = new RunningRule(slot, rule, this.#pool);
  }

  #summarize(): void {
    let first: Rule | undefined;
    let needsFlow = false;
    let needsTime = false;
    for (const [slot, rule] of this.#rules.entries()) {
      if (rule === undefined) continue;
      if (first === undefined || rule.priority > first.priority) first = rule;
      needsFlow ||= this.running[slot]!.needsFlow;
      needsTime ||= this.running[slot]!.sampleNs > 0;
    }
    this.everything = first !== undefined && isAny(first.match) ? this.slot(first.name) : -1;
    this.needsFlow = needsFlow;
    this.needsTime = needsTime;
  }
}

function refusal(code: RuleProblem['code'], rule: Rule, message: string): RulesError {
  return new RulesError([{ code, path: ['rules', rule.name], message }]);
}

function overlapText(rule: Rule, other: Rule): string {
  return `rules '${rule.name}' and '${other.name}' have priority ${rule.priority} and can match the same packet: give one of them another priority`;
}
