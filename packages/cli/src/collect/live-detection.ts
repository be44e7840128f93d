import { type AcceleratorMemory, NOT_AVAILABLE } from '@int/codec';
import { DetectionStage, detectionMemory, type EventListener } from '@int/collector';
import { type DetectorOptions, type EventBatch, KIND, type RuleSet, type RulesContext, SCOPES } from '@int/detect';
import { DEMO_RULES } from '../demo/rules.js';
import { FileWatch } from '../input/file-watch.js';
import { readRulesFile, usingRules } from '../input/rules-file.js';
import { prefilterWords, type RunningPrefilter } from '../input/xdp-input.js';
import { CliError, FileProblems, type Io } from '../io.js';
import { RecentCounts } from '../live/recent-counts.js';
import type { DetectionState } from '../output/detection-state.js';
import { type PlacedEvent, placedEvent } from '../output/event-text.js';
import { counted } from '../output/numbers.js';
import type { Told } from '../output/tracked-text.js';
import { Reloading } from './reloading.js';

/** Recent events kept for a live view. */
const RECENT = 64;
/** Most events kept per batch: a view that changes four times a second cannot show more. */
const RECENT_OF_BATCH = 16;

const HOP = /* @__PURE__ */ SCOPES.indexOf('hop');

/** Receives the result of reloading rules: the problems, a line each, and a message. */
export type TellRules = (problems: readonly string[], message: string) => void;

/**
 * Detection during collection: the stage, the most recent events, and rules that are reloaded when their file changes
 * or at SIGHUP. Invalid rules leave the current ones in force.
 */
export class LiveDetection {
  readonly stage: DetectionStage;
  /** What the detector was made with, but for its memory. */
  readonly options: DetectorOptions;
  onEvents: EventListener = () => {};
  /** Takes events of rules with a lifecycle that begin, go on or end. */
  onTracked: (told: readonly Told[]) => void = () => {};
  /** The number of the first frame of the current batch. */
  firstNumber: (frames: number) => number = () => 1;
  tell: TellRules = () => {};
  /** Takes the text of rules that have come into force because their file has changed. */
  onRules: (text: string) => void = () => {};
  /** Events that could not be printed in time. */
  notShown = 0;
  /** The rules file; `null` for the demo's rules. */
  readonly #path: string | null;
  #rules: RuleSet;
  #text: string;
  #prefilter: RunningPrefilter | null;
  readonly #io: Io;
  readonly #reloading: Reloading | null;
  #memory: AcceleratorMemory | null;
  #context: RulesContext;
  #recent: PlacedEvent[] = [];
  readonly #perSwitch = new RecentCounts();
  #notice: DetectionState['notice'] = null;

  private constructor(
    path: string | null,
    rules: RuleSet,
    text: string,
    watch: FileWatch | null,
    options: DetectorOptions,
    prefilter: RunningPrefilter | null,
    io: Io,
    context: RulesContext,
  ) {
    this.#context = context;
    this.#path = path;
    this.#rules = rules;
    this.#text = text;
    this.#prefilter = prefilter;
    this.#io = io;
    this.#reloading = watch === null ? null : new Reloading(watch, io, () => this.#load());
    const onEvents: EventListener = (events) => {
      this.#prefilter?.prefilter.applyVerdicts(events);
      this.onEvents(events);
    };
    const behind = this.#behind(rules);
    const onTracked = (told: readonly Told[]): void => this.onTracked(told);
    this.options = { ...options, ...prefilter?.detectorOptions };
    const all = { ...this.options, onEvents, onTracked };
    const memory = usingRules(path ?? 'demo', () => detectionMemory(behind, all));
    this.#memory = memory;
    this.stage = usingRules(
      path ?? 'demo',
      () => new DetectionStage(behind, { ...all, ...(memory !== null && { memory }) }),
    );
  }

  /**
   * Reads the rules.
   * @param path a rules file; `-`: standard input; `null`: the rules of the demo
   * @param attach loads the rules into the kernel, if wanted; `null` if impossible
   * @param context units and names that the rules may refer to
   * @throws CliError if they cannot be opened or used; errors of `attach`
   */
  static async open(
    path: string | null,
    options: DetectorOptions,
    io: Io,
    attach: (rules: RuleSet) => Promise<RunningPrefilter | null> = async () => null,
    context: RulesContext = {},
  ): Promise<LiveDetection> {
    // Watch the file before reading it, so that no change is missed.
    const watch = path === null || path === '-' ? null : await FileWatch.of(path);
    let text = DEMO_RULES;
    const onText = (read: string): void => {
      text = read;
    };
    const rules =
      path === null
        ? (await import('@int/detect/yaml')).readRules(DEMO_RULES)
        : await readRulesFile(path, io, { ...context, onText });
    const prefilter = await attach(rules);
    try {
      return new LiveDetection(path, rules, text, watch, options, prefilter, io, context);
    } catch (error) {
      prefilter?.prefilter.close();
      throw error;
    }
  }

  /**
   * Memory for the batch of a collector, so that the WebAssembly accelerator can detect in it; `null`: there is none. It has room
   * for one: a second collector detects in TypeScript.
   */
  takeMemory(): AcceleratorMemory | null {
    const memory = this.#memory;
    this.#memory = null;
    return memory;
  }

  /** The rules in force. */
  get rules(): RuleSet {
    return this.#rules;
  }

  /** Their text. */
  get text(): string {
    return this.#text;
  }

  /** The file that they can be saved to; `null`: there is none. */
  get file(): string | null {
    return this.#path === null || this.#path === '-' ? null : this.#path;
  }

  /**
   * Puts other rules into force, as when their file has changed.
   * @throws RulesError or RangeError (rejects), with nothing changed
   */
  async apply(text: string): Promise<void> {
    const { readRules } = await import('@int/detect/yaml');
    const rules = readRules(text, this.#context);
    this.#setRules(rules);
    this.#text = text;
    this.#say([], `${counted(rules.rules.length, 'rule')} in force, from the dashboard`);
  }

  get prefilter(): RunningPrefilter['prefilter'] | null {
    return this.#prefilter?.prefilter ?? null;
  }

  /** Continues without the pre-filter, which has been closed. */
  withoutPrefilter(): void {
    if (this.#prefilter === null) return;
    this.#prefilter = null;
    this.stage.setRules(this.#rules);
  }

  start(): void {
    this.#reloading?.start();
  }

  /** Reads the rules again with other units and names. */
  refer(context: RulesContext): void {
    this.#context = context;
    this.#reloading?.now();
  }

  /** Stops reloading rules. Resolves when no reload is running. */
  async stop(): Promise<void> {
    await this.#reloading?.stop();
  }

  /** Keeps the last events for {@link state}, and counts all by switch. */
  remember(events: EventBatch): void {
    const now = Date.now();
    for (let row = 0; row < events.count; row++) {
      const scope = (events.kind[row]! >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK;
      const switchId = events.nodeId[row]!;
      if (scope === HOP && switchId !== NOT_AVAILABLE) this.#perSwitch.add(switchId, now);
    }
    const number = this.firstNumber(events.batch.frames);
    const from = Math.max(0, events.count - RECENT_OF_BATCH);
    for (let row = from; row < events.count; row++) {
      this.#recent.push(placedEvent(events, row, number));
    }
    if (this.#recent.length >= 2 * RECENT) this.#recent = this.#recent.slice(-RECENT);
  }

  /** Events of the last 10 s by switch, among those {@link remember} was given. */
  recentEvents(): ReadonlyMap<number, number> {
    return this.#perSwitch.counts(Date.now());
  }

  /** The state to show. @param filtered reports dropped by a pre-filter */
  state(filtered = 0): DetectionState {
    return {
      totals: this.stage.totals(),
      tracked: this.stage.tracked(),
      adaptation: this.stage.adaptation(),
      filtered,
      recent: this.#recent.slice(-RECENT).reverse(),
      notShown: this.notShown,
      notice: this.#notice,
    };
  }

  async #load(): Promise<void> {
    const path = this.#path!;
    try {
      let text = '';
      const onText = (read: string): void => {
        text = read;
      };
      const warn = (line: string): void => this.tell([], line);
      const rules = await readRulesFile(path, this.#io, { ...this.#context, warn, onText });
      if (this.#reloading!.isStopped) return;
      usingRules(path, () => this.#setRules(rules));
      this.#text = text;
      this.onRules(text);
      const inKernel = this.prefilter === null ? '' : `; ${prefilterWords(this.prefilter).at(-1)!}`;
      this.#say([], `${path}: ${counted(rules.rules.length, 'rule')} in force${inKernel}`);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      if (this.#reloading!.isStopped) return;
      const problems = error instanceof FileProblems ? error.text : [`int: ${error.message}`];
      this.#say(problems, `${path}: the rules in force stay as they were`);
    }
  }

  /** @throws RulesError or RangeError, with nothing changed */
  #setRules(rules: RuleSet): void {
    const behind = this.#behind(rules);
    const prefilter = this.prefilter;
    // Change the kernel's rules first: later events need reports that pass its new rules.
    prefilter?.setRules(rules);
    try {
      this.stage.setRules(behind);
    } catch (error) {
      prefilter?.setRules(this.#rules);
      throw error;
    }
    this.#rules = rules;
  }

  /** The rules that a pre-filter leaves to the detector. */
  #behind(rules: RuleSet): RuleSet {
    return this.#prefilter === null ? rules : this.#prefilter.rulesBehind(rules);
  }

  #say(problems: readonly string[], message: string): void {
    this.#notice = { text: problems[0] ?? message, isProblem: problems.length > 0 };
    this.tell(problems, message);
  }
}
