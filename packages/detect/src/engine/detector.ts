import { type AcceleratorMemory, Arena, TelemetryBatch, type TelemetryRecord } from '@int/codec';
import { ETHERNET_BYTES, REPORT_COLUMN, writeRecord } from '@int/codec/internals';
import { RulesError } from '../errors.js';
import { type DetectorConfig, MATCH_ANY, type Rule, type RuleSet } from '../rules/model.js';
import { Watches } from '../watch/watches.js';
import { Accelerator } from './accelerator/accelerator.js';
import { BatchView } from './batch-view.js';
import { Decider, NOT_OK, TICK_NS, UNMATCHED } from './decider.js';
import type { Event } from './event.js';
import { EventBatch } from './event-batch.js';
import { NO_RULE } from './event-columns.js';
import { entriesFor, FlowTable } from './flow-table.js';
import type { HopFit } from './hop-fit.js';
import { HopLens } from './hop-lens.js';
import { LoopContext } from './loops/context.js';
import { LOOPS } from './loops/index.js';
import { type DetectorOptions, type ResolvedOptions, resolveOptions } from './options.js';
import { RuleBook } from './rule-book.js';
import { defaultRule, type RunningRule } from './running-rule.js';
import { admits } from './sampling.js';
import { type CellCounts, StatePool, stateOf } from './state.js';
import { SwitchTable } from './switch-table.js';
import type { DetectorTotals } from './totals.js';

/** Reports that are prepared together. */
const CHUNK = 2048;
/** For each flow cell, bytes of state for rules that come later. */
const SPARE_BYTES = 128;

/**
 * Finds events in telemetry, by rules.
 *
 * {@link detect} is the hot path: columns in, event rows out; it allocates nothing once it has seen batch and rules.
 * {@link observe} is the comfort path: a record in, event objects out, by the same code.
 *
 * - One rule decides each report: the matching one of highest priority. With `decide: all` each matching rule looks at it,
 *   highest priority first, and has state of its own.
 * - A rule whose match names hops sees a report as if it had those hops only.
 * - Metrics are unsigned, comparisons strict, sums saturate at 2^32 - 1.
 * - Hops come in path order: source first, the reporting node's own values last. Each sees what those before it have
 *   written.
 * - A hop that lacks the metric is skipped. A report with no other hop raises no event and changes no state.
 * - At first sight state is zero. Exact state of perHop and perFlow takes the first value instead, and marks its event,
 *   unless `firstSight` is `zero`.
 * - State belongs to a detector and a metric, as the registers of a switch do, and survives the rules.
 */
export class Detector {
  /**
   * Bytes of state and tables, fixed at construction. In addition, the rules' classifier takes 4 MiB for flows and
   * about 120 bytes for each of `maxRules`, and each telemetry batch seen takes 12 bytes a report row.
   */
  readonly byteLength: number;
  readonly options: Readonly<ResolvedOptions>;
  readonly #pool: StatePool;
  readonly #book: RuleBook;
  readonly #watches: Watches;
  readonly #decider: Decider;
  readonly #context: LoopContext;
  readonly #memory: AcceleratorMemory | null;
  readonly #accelerator: Accelerator | null;
  /** The accelerator, if it reaches the batch and events at hand. */
  #active: Accelerator | null = null;
  readonly #default: RunningRule;
  readonly #reportsByRule: Float64Array;
  readonly #eventsByRule: Float64Array;
  readonly #defaults = { reports: 0, events: 0 };
  readonly #views = new WeakMap<TelemetryBatch, BatchView>();
  #view: BatchView | null = null;
  /** Made when a rule first looks at some hops only. */
  #lens: HopLens | null = null;
  /** With `decide: all`: the report whose events filled the batch, and the next rule to look at it. */
  #held: { batch: TelemetryBatch; row: number; rule: number; matched: number } | null = null;
  #reports = 0;
  #notOk = 0;
  #unmatched = 0;
  #unsampled = 0;
  /** What {@link observe} works with. */
  #single: { batch: TelemetryBatch; events: EventBatch } | null = null;

  /**
   * @throws RulesError if rules overlap at equal priority, bear one name, or exceed the memory asked for
   * @throws RangeError for an option or a number of a rule out of range
   */
  constructor(rules: RuleSet, options: DetectorOptions = {}) {
    const resolved = resolveOptions(options);
    const isExact = resolved.state === 'exact';
    const flowCells = isExact ? entriesFor(resolved.flowCells) : resolved.flowCells;
    const switchCells = isExact ? entriesFor(resolved.switchCells) : resolved.switchCells;
    this.options = { ...resolved, flowCells, switchCells };
    const marksFirst = isExact && resolved.firstSight === 'marked';
    const cells: CellCounts = { flowCells, switchCells, positions: resolved.positions, marksFirst };
    const stateBytes = stateBytesOf(rules, cells, options.stateBytes);
    const { memory } = options;
    this.byteLength =
      stateBytes +
      (isExact ? FlowTable.byteLength(flowCells) + SwitchTable.byteLength(switchCells) : 0) +
      (memory === undefined ? 0 : Accelerator.byteLength) +
      256;
    const arena = memory?.arena ?? new Arena(new ArrayBuffer(this.byteLength));
    this.#memory = memory ?? null;
    this.#pool = new StatePool(arena, cells, stateBytes);
    const idleTicks = Math.ceil((resolved.idleMs * 1e6) / TICK_NS);
    const flows = isExact ? new FlowTable(arena, flowCells, idleTicks) : null;
    const switches = isExact ? new SwitchTable(arena, switchCells, idleTicks) : null;
    const switchMask = !isExact && isPowerOfTwo(switchCells) ? switchCells - 1 : -1;
    this.#accelerator = memory === undefined ? null : Accelerator.over(memory, this.#pool, switchMask);
    this.#context = new LoopContext(
      this.#pool,
      switchMask,
      isExact ? (id) => this.#decider.switchCell(id) : (id) => (id >>> 0) % switchCells,
      resolved.positions,
    );
    this.#default = defaultRule(this.#pool);
    this.#reportsByRule = new Float64Array(resolved.maxRules);
    this.#eventsByRule = new Float64Array(resolved.maxRules);
    this.#watches = new Watches(this, resolved.watchKeys, resolved.idleMs);
    this.#book = new RuleBook(resolved.maxRules, this.#pool, this.#watches, (slot) => {
      this.#reportsByRule[slot] = 0;
      this.#eventsByRule[slot] = 0;
    });
    this.#decider = new Decider(this.#book, this.#pool, flows, switches, flowCells);
    this.#book.setAll(rules);
  }

  /** A detector with a single rule that matches everything, named after its kind. */
  static of(detector: DetectorConfig, options: DetectorOptions = {}): Detector {
    const rule: Rule = { name: detector.kind, priority: 0, match: MATCH_ANY, detector, sample: null, adapt: null };
    return new Detector({ rules: [rule], default: 'drop', adapt: null }, options);
  }

  /**
   * Looks at report rows `from` to `to - 1` and appends their events.
   *
   * Rules that sample by time need a batch with times; rules that match MAC addresses need one with the bytes of its
   * frames. Without times, no state ages.
   *
   * @returns the first row not looked at: `to`, or less if the events of the next one might not fit. Then read the
   *   events, `clear` them, and go on from there
   * @throws TypeError if the rules need times or bytes that the batch lacks
   * @throws RangeError for rows that the batch does not hold, and if `events` holds those of another batch
   */
  detect(batch: TelemetryBatch, events: EventBatch, from = 0, to: number = batch.reports): number {
    if (!(from >= 0 && from <= to && to <= batch.reports)) {
      throw new RangeError(`rows ${from} to ${to}: the batch holds ${batch.reports}`);
    }
    if (from < to && this.#book.needsTime && !batch.isTimed) {
      throw new TypeError('a rule samples by time or watches it: give the times of the frames');
    }
    if (from < to && this.#book.needsBytes && batch.bytes.length === 0) {
      throw new TypeError('a rule matches MAC addresses or DSCP: give a batch that has the bytes of its frames');
    }
    events.attach(batch, this);
    const view = this.#viewOf(batch);
    const context = this.#context;
    context.view = view;
    context.open(events);
    this.#active = this.#accelerator?.reaches(view, events.words) === true ? this.#accelerator : null;
    this.#active?.open(view, context);
    const decider = this.#decider;
    decider.open(batch);
    let row = this.#book.isAll ? this.#detectAll(view, from, to, events.capacity) : from;
    while (row < to && !this.#book.isAll) {
      const room = events.capacity - context.count;
      const end = decider.prepare(view, row, Math.min(to, row + CHUNK), room, this.#active);
      if (end === row) break;
      if (this.#watches.isEmpty) this.#run(view, row, end);
      else this.#runWatched(view, row, end);
      decider.settle();
      row = end;
    }
    events.count = context.count;
    events.evidenceSlots = context.evidenceSlots;
    return row;
  }

  /**
   * Looks at one record, as decoded or made by hand.
   * @param timeNs nanoseconds since the epoch, for sampling by time and ageing. Default 0
   */
  observe(record: TelemetryRecord, timeNs = 0n): Event[] {
    this.#single ??= {
      batch: new TelemetryBatch({ frames: 1, reports: 1, hops: 512, bytes: ETHERNET_BYTES }),
      events: new EventBatch(512),
    };
    const { batch, events } = this.#single;
    writeRecord(batch, record, timeNs);
    events.clear();
    const found: Event[] = [];
    for (let row = 0; row < batch.reports; events.clear()) {
      row = this.detect(batch, events, row);
      found.push(...events);
    }
    const all = this.findings();
    if (all !== null && all.count > 0) {
      found.push(...all);
      all.clear();
    }
    return found;
  }

  /**
   * What the rules with `baseline`, `rate`, `absent` and `burst` have found. Such events belong to no report: each has one of its own
   * in a batch apart ({@link EventBatch.isApart}), with its time, and its flow or a hop. Read them after {@link detect} and
   * {@link advance}, and clear them. They are the same object each time.
   * @returns `null` if there has never been such a rule
   */
  findings(): EventBatch | null {
    return this.#watches.events;
  }

  /**
   * Lets time pass without reports, so that silence is found: call it about once a second. Time never goes back; reports with earlier
   * times count as of now.
   * @param timeNs nanoseconds since the epoch
   */
  advance(timeNs: bigint): void {
    const watches = this.#watches;
    if (watches.isEmpty) return;
    watches.time.pass(timeNs);
    watches.advance(watches.time.now);
  }

  /**
   * Replaces all rules. One of the same name keeps its counters and, if it is equal, its threshold.
   * @throws RulesError, with nothing changed
   */
  setRules(rules: RuleSet): void {
    this.#book.setAll(rules);
  }

  /** @throws RulesError, with nothing changed, if the rule is refused */
  addRule(rule: Rule): void {
    this.#book.add(rule);
  }

  /** Replaces the rule of the same name. @throws RulesError or RangeError, with nothing changed */
  replaceRule(rule: Rule): void {
    this.#book.replace(rule);
  }

  /** @throws RangeError if there is no such rule */
  removeRule(name: string): void {
    this.#book.remove(name);
  }

  /**
   * Moves the threshold in force, not that in {@link rules}. @throws RangeError for no such rule, or one without
   * threshold
   */
  setThreshold(name: string, threshold: number): void {
    this.#book.setThreshold(name, threshold);
  }

  /** The threshold in force. @throws RangeError for no such rule, or one without threshold */
  threshold(name: string): number {
    return this.#book.threshold(name);
  }

  /** The rules in force. */
  rules(): readonly Rule[] {
    return this.#book.rules();
  }

  /** Name of the rule in a slot of an event row; `null`: the default. */
  ruleName(slot: number): string | null {
    return slot === NO_RULE ? null : this.#book.name(slot);
  }

  /** Reports that the rule in a slot has decided. */
  reportsOf(slot: number): number {
    return this.#reportsByRule[slot] ?? 0;
  }

  /** Slot of a rule, or -1. */
  slotOf(name: string): number {
    return this.#book.slot(name);
  }

  /**
   * Exact state: frees flows that have been idle for too long, in at most `maxSets` sets of 8; call it now and then.
   * Flows that come back after the idle time count as new even without it.
   * @param timeNs nanoseconds since the epoch
   */
  sweep(timeNs: bigint, maxSets: number): number {
    return this.#decider.sweep(Number((timeNs >> 20n) & 0xffffffffn) | 0, maxSets);
  }

  totals(): DetectorTotals {
    const context = this.#context;
    const watches = this.#watches;
    const byRule = new Map(
      this.#book.rules().map(({ name }) => {
        const slot = this.#book.slot(name);
        const events = this.#eventsByRule[slot]! + watches.foundBy(slot);
        return [name, { reports: this.#reportsByRule[slot]!, events }];
      }),
    );
    return {
      reports: this.#reports,
      survivors: context.survivors,
      events: context.written + watches.found,
      notOk: this.#notOk,
      unmatched: this.#unmatched,
      unsampled: this.#unsampled,
      withoutFlow: context.withoutFlow + watches.withoutFlow,
      beyondPositions: context.beyondPositions,
      aged: this.#decider.aged,
      evicted: this.#decider.evicted,
      untracked: watches.untracked,
      untold: watches.untold,
      byRule,
      byDefault: { ...this.#defaults },
    };
  }

  #viewOf(batch: TelemetryBatch): BatchView {
    if (this.#view?.batch === batch) return this.#view;
    let view = this.#views.get(batch);
    if (view === undefined) {
      view = new BatchView(batch, batch.buffer === this.#memory?.buffer ? this.#memory.arena : undefined);
      this.#views.set(batch, view);
    }
    this.#view = view;
    return view;
  }

  /**
   * `decide: all`: every rule that matches looks, report by report. Returns the first row that is not done; one whose
   * events need more room than an empty event batch has is continued by the next call.
   */
  #detectAll(view: BatchView, from: number, to: number, capacity: number): number {
    const context = this.#context;
    const decider = this.#decider;
    const rules = Math.max(1, this.#book.specials.length);
    const watches = this.#watches;
    if (this.#held !== null && (this.#held.batch !== view.batch || this.#held.row !== from)) this.#held = null;
    let row = from;
    while (row < to) {
      // Each rule raises an event a hop at most.
      const room = Math.floor((capacity - context.count) / rules);
      let end = this.#held === null ? decider.prepare(view, row, Math.min(to, row + CHUNK), room, null) : row;
      if (end === row) {
        if (context.count > 0) break;
        end = decider.prepare(view, row, row + 1, capacity, null);
      }
      if (!watches.isEmpty && this.#held === null) this.#noteTimes(view, row, end);
      let isDone = true;
      for (; row < end && isDone; row++) {
        if (!watches.isEmpty) watches.advanceTo(row);
        const before = context.count;
        isDone = this.#lookAll(view, row, capacity);
        if (!watches.isEmpty) watches.countEvents(view, context.events, context.eventStride, before, context.count);
      }
      decider.settle();
      if (!isDone) return row - 1;
    }
    return row;
  }

  /** Has each matching rule look at a report. Returns false if the event batch is full before the last one. */
  #lookAll(view: BatchView, row: number, capacity: number): boolean {
    const context = this.#context;
    const { specials, running, isDefaultReport } = this.#book;
    const isFirst = this.#held === null;
    const start = context.count;
    let matched = this.#held?.matched ?? 0;
    const survivors = context.survivors;
    let next = this.#held?.rule ?? 0;
    this.#held = null;
    if (view.decisions[row] === NOT_OK) {
      this.#notOk++;
      return true;
    }
    if (isFirst) this.#reports++;
    const hops = Math.max(1, view.hopCount[row]!);
    for (; next < specials.length; next++) {
      const { match, slot } = specials[next]!;
      if (!match.isMatch(view, row)) continue;
      if (context.count + hops > capacity) {
        this.#held = { batch: view.batch, row, rule: next, matched };
        break;
      }
      matched++;
      const before = context.count;
      this.#lookAt(view, running[slot]!, row, row + 1);
      this.#reportsByRule[slot]! += 1;
      this.#eventsByRule[slot]! += context.count - before;
    }
    if (matched === 0 && this.#held === null) {
      if (isDefaultReport) {
        this.#look(this.#default, row, row + 1);
        this.#defaults.reports++;
        this.#defaults.events++;
      } else this.#unmatched++;
    }
    context.written += context.count - start;
    // A report counts once, however many rules it has events of.
    context.survivors = survivors + (context.count > start && isFirst ? 1 : 0);
    return this.#held === null;
  }

  /** Has a rule look at rows, as far as its sampling lets it. */
  #lookAt(view: BatchView, rule: RunningRule, from: number, to: number): void {
    if (rule.sampleState < 0) this.#look(rule, from, to);
    else this.#runSampled(view, rule, from, to);
  }

  #noteTimes(view: BatchView, from: number, to: number): void {
    const { time } = this.#watches;
    time.note(view.batch, from, to);
    this.#context.times = time.times;
  }

  /** The same, while rules watch the time: they are told of it between two reports. */
  #runWatched(view: BatchView, from: number, to: number): void {
    const watches = this.#watches;
    const context = this.#context;
    this.#noteTimes(view, from, to);
    for (let row = from; row < to; ) {
      watches.advanceTo(row);
      const end = watches.endOfCalm(row, to);
      const before = context.count;
      this.#run(view, row, end);
      watches.countEvents(view, context.events, context.eventStride, before, context.count);
      row = end;
    }
  }

  /** Looks at prepared rows, in runs of equal decisions. */
  #run(view: BatchView, from: number, to: number): void {
    const { decisions } = view;
    const context = this.#context;
    const book = this.#book;
    for (let row = from; row < to; ) {
      const decision = decisions[row]!;
      let end = this.#decider.isUniform ? to : row + 1;
      while (end < to && decisions[end] === decision) end++;
      const before = context.count;
      const reports = end - row;
      if (decision === NOT_OK) this.#notOk += reports;
      else this.#reports += reports;
      if (decision >= 0) {
        const rule = book.running[decision]!;
        this.#lookAt(view, rule, row, end);
        this.#reportsByRule[decision]! += reports;
        this.#eventsByRule[decision]! += context.count - before;
      } else if (decision === UNMATCHED) {
        if (book.isDefaultReport) {
          this.#look(this.#default, row, end);
          this.#defaults.reports += reports;
          this.#defaults.events += reports;
        } else this.#unmatched += reports;
      }
      context.written += context.count - before;
      row = end;
    }
  }

  /** Looks at rows of one rule, with the accelerator if it has a loop for it. */
  #look(rule: RunningRule, from: number, to: number): void {
    if (rule.hops !== null) {
      this.#lookThrough(rule, rule.hops, from, to);
      return;
    }
    const accelerator = this.#active;
    if (accelerator?.takes(rule) === true) accelerator.run(this.#context, rule, from, to);
    else LOOPS[rule.loop]!(this.#context, rule, from, to);
  }

  /** Looks at rows of a rule that sees some hops only. */
  #lookThrough(rule: RunningRule, fit: HopFit, from: number, to: number): void {
    this.#lens ??= new HopLens();
    const lens = this.#lens;
    const context = this.#context;
    const { view } = context;
    for (let row = from; row < to; row++) {
      const before = context.count;
      lens.load(view, row, fit, rule.columns, rule.watch !== null);
      context.view = lens.view;
      context.firstRow = row;
      LOOPS[rule.loop]!(context, rule, 0, 1);
      context.view = view;
      context.firstRow = 0;
      lens.place(context, before, row);
    }
  }

  #runSampled(view: BatchView, rule: RunningRule, from: number, to: number): void {
    const context = this.#context;
    const frames = REPORT_COLUMN.FRAME * view.reportStride;
    const { frameTimeHigh, frameTimeLow } = view.batch;
    for (let row = from; row < to; row++) {
      const flow = view.cells[row]!;
      if (flow < 0) {
        context.withoutFlow++;
        continue;
      }
      let high = 0;
      let low = 0;
      if (rule.sampleNs > 0) {
        const frame = view.report[frames + row]!;
        high = frameTimeHigh[frame]!;
        low = frameTimeLow[frame]!;
      }
      if (admits(rule, this.#pool.words, flow, high, low)) this.#look(rule, row, row + 1);
      else this.#unsampled++;
    }
  }
}

function isPowerOfTwo(value: number): boolean {
  return (value & (value - 1)) === 0;
}

function stateBytesOf(rules: RuleSet, cells: CellCounts, wanted: number | undefined): number {
  const empty = new StatePool(new Arena(new ArrayBuffer(64)), cells, 0);
  const needed = empty.missing(
    rules.rules.flatMap((rule, slot) => stateOf(rule, rules.decide === 'all' ? slot : null)),
  );
  const bytes = wanted ?? needed + SPARE_BYTES * cells.flowCells;
  if (!Number.isInteger(bytes) || bytes < 0)
    throw new RangeError(`detector: stateBytes must be an integer, not ${bytes}`);
  if (bytes < needed) {
    const message = `the rules need ${needed} bytes of state, stateBytes is ${bytes}`;
    throw new RulesError([{ code: 'CAPACITY', path: [], message }]);
  }
  return Math.ceil(bytes / 64) * 64;
}
