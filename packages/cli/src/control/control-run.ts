/** One run of `int control`: telemetry comes in, the switches follow. */
import { createInterface } from 'node:readline';
import type { TelemetryBatch } from '@int/codec';
import { Collector, type CollectorTotals, type Sink, type Source, SourceError, type Stage } from '@int/collector';
import { Controller, EventThresholds, P4RuntimeConnection, TrafficMeter } from '@int/control';
import { type Incident, type KnowledgeOptions, KnowledgePlane } from '@int/knowledge';
import type { SessionState } from '@int/p4runtime';
import { StreamProcessor } from '@int/stream';
import { Reloading } from '../collect/reloading.js';
import { millisecondsOf } from '../config/quantities.js';
import { ConfigSetup } from '../config/setup.js';
import { closeSinks } from '../config/sinks.js';
import type { DashboardSettings } from '../dashboard/settings.js';
import { ifGiven } from '../given.js';
import type { FileWatch } from '../input/file-watch.js';
import type { TelemetryInput } from '../input/telemetry-input.js';
import { endOf, opening } from '../interruption.js';
import { CliError, EXIT, FileProblems, hasColour, type Io, say } from '../io.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { counted } from '../output/numbers.js';
import { PacedOutput } from '../output/paced-output.js';
import type { ControlConfig } from './config.js';
import { hostLevel } from './host-levels.js';
import { ControlJournal, sinceBegun } from './journal.js';
import type { ControlNetwork } from './network.js';
import { PacketSource } from './packet-source.js';
import { compileOptionsOf, policyOf } from './policy.js';
import { type ReadControl, readControl } from './read-control.js';
import { RehearsalThread } from './rehearsal-thread.js';
import { ReportLosses } from './report-losses.js';
import { thresholdText } from './threshold-text.js';
import { ControlView } from './view/control-view.js';

/** Characters kept for a slow reader of the journal. */
const UNREAD_LIMIT = 1 << 22;
const LAST_WORDS_MS = 2000;

export interface ControlRunOptions {
  readonly read: ReadControl;
  readonly network: ControlNetwork;
  readonly file: string;
  readonly watch: FileWatch;
  /** In place of the file's. */
  readonly dashboard: DashboardSettings | null;
  readonly isJson: boolean;
}

export class ControlRun {
  readonly #dashboard: DashboardSettings | null;
  #read: ReadControl;
  readonly #network: ControlNetwork;
  readonly #file: string;
  readonly #io: Io;
  readonly #output: DataOutput;
  readonly #paced: PacedOutput;
  readonly #isJson: boolean;
  readonly #meter: TrafficMeter;
  readonly #thresholds: EventThresholds;
  readonly #twin: RehearsalThread;
  readonly #reloading: Reloading;
  readonly #view: ControlView;
  #journal!: ControlJournal;
  #controller!: Controller;
  #setup!: ConfigSetup;
  #losses!: ReportLosses;
  #collector!: Collector;
  #knowledge!: KnowledgePlane;
  #hasProblem = false;
  #isWarned = false;

  constructor({ read, network, file, watch, dashboard, isJson }: ControlRunOptions, io: Io) {
    this.#dashboard = dashboard;
    this.#read = read;
    this.#network = network;
    this.#file = file;
    this.#io = io;
    this.#isJson = isJson;
    this.#output = new DataOutput(io.stdout);
    this.#paced = new PacedOutput(this.#output, UNREAD_LIMIT);
    this.#twin = new RehearsalThread({
      topologyFile: read.telemetry.path(read.config.topology),
      programs: network.programs,
    });
    this.#view = new ControlView(() => this.#read);
    this.#meter = new TrafficMeter({ sampling: read.config.sampling ?? 1, topology: read.topology });
    this.#thresholds = new EventThresholds(ifGiven(read.config.learn, (learn) => ({ learnMs: millisecondsOf(learn) })));
    this.#reloading = new Reloading(watch, io, () => this.#reload());
  }

  async run(): Promise<number> {
    const { config, telemetry, topology } = this.#read;
    const io = this.#io;
    const known = { topology, device: telemetry.device };
    const folder = config.journal === undefined ? null : telemetry.path(config.journal);
    this.#journal = await ControlJournal.open(this.#paced, this.#isJson, known, colours(hasColour(io)), folder);
    const { damaged } = this.#journal.changes.file ?? { damaged: 0 };
    if (damaged > 0) say(io, `${folder}: ${counted(damaged, 'line')} of changes.jsonl cannot be read, nor be undone`);
    this.#warnForgetful(config);
    try {
      return await this.#control();
    } finally {
      await this.#journal.close();
    }
  }

  async #control(): Promise<number> {
    const { telemetry } = this.#read;
    const io = this.#io;
    this.#read = { ...this.#read, intents: sinceBegun(this.#read.intents, this.#journal.memory) };
    const tell = (message: string): void => say(io, message);
    const context = { io, tell, drainMs: null, prometheus: null, dashboard: this.#dashboard };
    this.#setup = await opening(
      io,
      'what the file names',
      ConfigSetup.make({ ...telemetry, device: this.#network.device }, context),
    );
    this.#losses = new ReportLosses(this.#setup.stages);
    io.drainWithin?.(this.#setup.drainMs + LAST_WORDS_MS);
    const connections = this.#connect();
    this.#controller = this.#controllerOf(connections);
    this.#knowledge = this.#know();
    this.#view.remember(this.#journal.changes.entries);
    this.#view.look({ controller: this.#controller, knowledge: this.#knowledge });
    this.#setup.dashboard?.show(this.#view);
    let input: TelemetryInput;
    try {
      await this.#setup.dashboard?.open(this.#setup, tell);
      input = await opening(io, 'the source', this.#setup.input());
      await this.#collect(input, this.#packets(connections));
    } catch (error) {
      await this.#controller.stop();
      await this.#twin.close();
      await Promise.all(connections.map((each) => each.close()));
      await closeSinks(this.#sinks);
      await this.#setup.close();
      throw SourceError.is(error) ? new CliError(error.message, EXIT.OPEN, error) : error;
    }
    this.#setup.dashboard?.attach(this.#collector, () => this.#collector.degraded());
    for (const line of input.words) say(io, line);
    const url = this.#setup.dashboard?.url ?? null;
    if (url !== null) say(io, `dashboard on ${url}`);
    say(io, `controlling ${counted(connections.length, 'switch', 'switches')}`);
    this.#controller.start(this.#read.intents, 'start');
    this.#tellProblems();
    this.#reloading.start();
    const orders = createInterface({ input: io.stdin });
    orders.on('line', (line) => {
      // A fault of one order ends neither the loop nor the command.
      this.#order(line.trim()).catch((error: unknown) => say(io, `the order failed: ${(error as Error).message}`));
    });
    let totals: CollectorTotals;
    try {
      await endOf(io, this.#output, this.#collector.finished);
      orders.close();
      await this.#reloading.stop();
      totals = await this.#collector.stop(this.#setup.drainMs);
    } finally {
      await this.#controller.stop();
      await this.#twin.close();
      await Promise.all(connections.map((each) => each.close()));
      await this.#setup.close();
    }
    return this.#finish(totals);
  }

  /** Without a memory, what the loop has made is removed at the next start. */
  #warnForgetful({ journal, autonomy = {} }: ControlConfig): void {
    const kinds = Object.entries(autonomy).filter(([, each]) => each !== 'observe');
    if (this.#isWarned || journal !== undefined || kinds.length === 0) return;
    this.#isWarned = true;
    const names = kinds.map(([kind]) => kind).join(', ');
    const advice = `name a folder in ${this.#file}, such as journal: journal`;
    say(
      this.#io,
      `no journal: the next start removes what the loop makes by itself (${names}), and undoes nothing; ${advice}`,
    );
  }

  get #sinks(): readonly Sink[] {
    const { dashboard } = this.#setup;
    return dashboard === null ? [] : [dashboard];
  }

  #connect(): P4RuntimeConnection[] {
    const { topology } = this.#read;
    return this.#network.ways.map((way) => {
      let last = '';
      const onState = (state: SessionState): void => {
        const text = sessionText(state);
        // An attempt that fails as the one before is no news.
        if (text === null || text === last) return;
        last = text;
        say(this.#io, `${topology.switchText(way.switchId)}: ${text}`);
      };
      return new P4RuntimeConnection({ ...way, onState });
    });
  }

  #controllerOf(connections: readonly P4RuntimeConnection[]): Controller {
    const { config } = this.#read;
    const { model } = this.#network;
    return new Controller({
      policy: policyOf(config),
      network: model,
      device: this.#read.telemetry.device,
      connections,
      twin: this.#twin,
      traffic: {
        measure: (nowMs) => {
          this.#meter.lost(this.#losses.take(this.#collector.totals()));
          return this.#meter.measure(nowMs);
        },
        minute: (nowMs) => this.#meter.minute(nowMs),
      },
      compile: compileOptionsOf(config),
      thresholds: this.#thresholds,
      ...(config.linkLoad !== undefined && { linkLoad: config.linkLoad }),
      reconcile: {
        onWritten: (written) => {
          this.#view.written(this.#journal.written(written));
        },
      },
      onNote: (note, proposal) => {
        this.#journal.note(note, proposal);
        this.#view.note(note);
      },
      journal: this.#journal.changes,
      ...(this.#journal.memory !== null && { memory: this.#journal.memory.memory, keeper: this.#journal.memory }),
    });
  }

  /** What telemetry says, as incidents. */
  #know(): KnowledgePlane {
    const { config } = this.#read;
    const options: KnowledgeOptions = {
      ...(config.inside !== undefined && { inside: config.inside }),
      ...(config.learn !== undefined && { learnMs: millisecondsOf(config.learn) }),
      ...(config.sampling !== undefined && { sampling: config.sampling }),
    };
    const incident = (each: Incident): void => {
      this.#journal.incident(each);
      this.#view.incident(each);
      this.#controller.give({ kind: 'incident', incident: each });
    };
    return new KnowledgePlane(options, { incident }, (host) => hostLevel(this.#read, host).level);
  }

  /** What switches send to their controller, as a source; none: all have telemetry go over the network. */
  #packets(connections: readonly P4RuntimeConnection[]): readonly Source[] {
    const { switches } = this.#network.model;
    const senders = connections.filter(({ switchId }) => switches.get(switchId)?.program === 'intmon');
    return senders.length === 0 ? [] : [new PacketSource(senders)];
  }

  async #collect({ sources, decode }: TelemetryInput, packets: readonly Source[]): Promise<void> {
    const { topology } = this.#read;
    const events = new StreamProcessor({}, { event: (event) => this.#controller.give({ kind: 'event', event }) });
    const stages: Stage[] = [
      ...this.#setup.stages,
      ...(this.#setup.stages.includes(this.#losses.stage) ? [] : [this.#losses.stage]),
      this.#thresholds,
      this.#meter,
      stageOf('knowledge', this.#knowledge),
      stageOf('events', events),
    ];
    this.#collector = new Collector({
      sources: [...sources, ...packets],
      decode,
      stages,
      sinks: this.#sinks,
      knownSwitches: topology.switches.keys(),
      onProblem: ({ error }) => {
        this.#hasProblem = true;
        say(this.#io, error.message);
      },
    });
    await opening(this.#io, 'the source', this.#collector.start());
  }

  /** What of people's intents has no place. */
  #tellProblems(): void {
    for (const { intents, message } of this.#controller.preview(this.#read.intents).problems) {
      say(this.#io, intents.length === 0 ? message : `${intents.join(', ')}: ${message}`);
    }
  }

  /** Does what a line of standard input asks for. */
  async #order(line: string): Promise<void> {
    if (line === '') return;
    const [, kind = '', proposal = ''] = /^(approve|reject|undo)\s+(\S+)$/.exec(line) ?? [];
    const by = 'terminal';
    let error: string | null;
    const entries = /^(undo|redo)\s+([\d\s,-]+)$/.exec(line);
    if (entries !== null) {
      const ids = numbersOf(entries[2]!);
      const order = { kind: entries[1] as 'undo' | 'redo', entries: ids ?? [], by };
      error = ids === null ? 'write numbers of entries such as 7 or 7-9' : await this.#controller.order(order);
    } else if (kind === 'approve' || kind === 'reject' || kind === 'undo') {
      error = await this.#controller.order({ kind, proposal, by });
    } else if (line === 'stop' || line === 'withdraw' || line === 'resume') {
      error = await this.#controller.order({ kind: line, by });
    } else if (line === 'thresholds') {
      this.#journal.thresholds(this.#thresholds.thresholds);
      error = null;
    } else error = 'write approve ID, reject ID, undo ID, redo ENTRY, stop, withdraw, resume or thresholds';
    if (error !== null) say(this.#io, error);
  }

  /** Reads the file again: intents and what the loop may do. What is different besides needs a new start. */
  async #reload(): Promise<void> {
    try {
      const since = new Map(this.#read.intents.map(({ id, fromMs }) => [id, fromMs]));
      const nowMs = Date.now();
      const next = await readControl(this.#file, this.#io, (id) => since.get(id) ?? nowMs);
      this.#controller.give(
        { kind: 'policy', policy: policyOf(next.config), by: this.#file },
        { kind: 'intents', intents: next.intents, by: this.#file },
      );
      this.#read = next;
      this.#warnForgetful({ ...next.config, ...(this.#journal.memory !== null && { journal: 'journal' }) });
      this.#tellProblems();
      say(this.#io, `${this.#file}: ${counted(next.intents.length, 'intent')} in force`);
    } catch (error) {
      const problems = error instanceof FileProblems ? error.text : [(error as Error).message];
      for (const problem of problems) this.#io.stderr.write(`${problem}\n`);
      say(this.#io, `${this.#file}: what is in force stays as it was`);
      this.#hasProblem = true;
    }
  }

  async #finish({ reports }: CollectorTotals): Promise<number> {
    await this.#paced.flush();
    // Counted before the file is closed.
    await this.#journal.changes.flush();
    const { dropped } = this.#journal.changes.file ?? { dropped: { full: 0, failed: 0 } };
    await this.#journal.close();
    const { proposals, untracked } = this.#controller.loop;
    const states = new Map<string, number>();
    for (const { state } of proposals) states.set(state, (states.get(state) ?? 0) + 1);
    const { thresholds } = this.#thresholds;
    if (this.#isJson) {
      const total = { type: 'total', reports, proposals: Object.fromEntries(states), untracked, thresholds };
      this.#output.line(JSON.stringify(total));
    } else {
      for (const each of thresholds) this.#output.line(thresholdText(each, this.#read.topology));
      const words = [...states].map(([state, count]) => `${count} ${state}`).join(', ');
      this.#output.line(`${counted(reports, 'report')}, ${counted(proposals.length, 'proposal')}: ${words || 'none'}`);
    }
    await this.#output.finish();
    const { failure, notWritten, notShown } = this.#journal;
    const lost = notWritten + dropped.full + dropped.failed;
    if (notShown > 0) say(this.#io, `${counted(notShown, 'line')} of the journal not shown: the reader is too slow`);
    if (lost > 0) say(this.#io, `${counted(lost, 'line')} of the journal not written`);
    if (untracked > 0) say(this.#io, `${counted(untracked, 'proposal')} not made: there was no room`);
    if (failure !== null) say(this.#io, `the journal could not be written: ${failure.message}`);
    return this.#hasProblem || failure !== null ? EXIT.INPUT : EXIT.OK;
  }
}

/** Entries at most that are undone at once. */
const MOST_UNDONE = 10_000;

/** Numbers of `7 9-12`; `null`: that is not what it is. */
function numbersOf(text: string): readonly number[] | null {
  const numbers: number[] = [];
  for (const part of text.split(/[\s,]+/).filter((each) => each !== '')) {
    const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part) ?? [];
    if (first === undefined || Number(last) - Number(first) >= MOST_UNDONE - numbers.length) return null;
    for (let number = Number(first); number <= Number(last); number++) numbers.push(number);
  }
  return numbers.length === 0 ? null : numbers;
}

function stageOf(name: string, part: { observe(batch: TelemetryBatch): void; advance(timeMs: number): void }): Stage {
  return { name, process: (batch) => part.observe(batch), advance: (timeMs) => part.advance(timeMs) };
}

/** `null`: nothing that a person needs to know. */
function sessionText(state: SessionState): string | null {
  switch (state.kind) {
    case 'primary':
      return 'connected';
    case 'backup':
      if (state.hasPrimary) return 'another controller is at work';
      // A switch remembers the highest id that it has seen, also when its controller has left.
      return `no controller is at work, and this one may not be: give an electionId of ${state.electionId ?? 'the last one'} or more`;
    case 'disconnected':
      return `not connected${state.error === undefined ? '' : `: ${state.error.message}`}`;
    default:
      return null;
  }
}
