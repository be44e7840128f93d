import type { FlowWindow } from '@int/stream';
import { topicsOf } from '../../../src/findings.js';
import { FlowUnit } from '../../../src/flow-unit.js';
import { flowKey } from '../../../src/message-key.js';
import { NetworkUnit } from '../../../src/network-unit.js';
import type { Findings } from '../../../src/unit.js';
import { type Append, FLOWS, PATH, type SentReport, SimulatedSink } from './simulated-sink.js';
import { type AnyWindow, LatestWindows, SimulatedLog, SimulatedTask } from './simulated-task.js';

/** What happens to a part of the system, and for how many ticks. */
export interface Fault {
  /** The tick at which it begins. */
  readonly at: number;
  readonly ticks: number;
  readonly kind:
    | 'freezeCollector'
    | 'cutCollector'
    | 'killCollector'
    | 'restartCollector'
    | 'killWithSpool'
    | 'newCollector'
    | 'dropReports'
    | 'clockStep'
    | 'killFlow'
    | 'killNetwork'
    | 'broker';
  /** Which of several. */
  readonly which: number;
}

export interface Schedule {
  readonly collectors: number;
  readonly faults: readonly Fault[];
  /** Reports in a tick: how many each collector gets in turn. */
  readonly load: readonly number[];
  /** How long windows are kept to be corrected. */
  readonly latenessMs: number;
  /** What a sink delivers in a tick, and a processor takes. */
  readonly pace: number;
}

const START_MS = 1_700_000_000_000;
const TICK_MS = 250;
/** Ticks in which reports come. */
export const BUSY_TICKS = 160;
const PARTITIONS = 2;
/** The network's task; those of flows have the number of their partition. */
const NETWORK = PARTITIONS;
const WINDOW_MS = 1000;
const LIMITS = { waitMs: 10_000, forgetMs: 60_000 };
const TIMES = { sliceMs: 250, windowMs: WINDOW_MS };
/** Longer than anything is late. */
export const ALWAYS_MS = 120_000;
const ROOM = { switches: 8, links: 8, queues: 8, reporters: 8, sequenceBlocks: 64 };
/** Ticks in which all is well and nothing new comes: sinks get rid of what they have. */
const CALM_TICKS = 120;
/** And then in which nobody writes: what is silent is given up. */
const SILENT_TICKS = 60;

/** Beginning of the ids of each flow's windows. */
const flowNames = Array.from({ length: FLOWS }, (_, flow) => {
  const ends = { source: `10.0.1.${flow}`, destination: '10.0.2.2', protocol: 17 };
  return `flow-${Buffer.from(flowKey({ ...ends, sourcePort: 5000 + flow, destinationPort: 80 })).toString('hex')}`;
});

interface Collector {
  sink: SimulatedSink;
  clockMs: number;
  frozen: number;
  cut: number;
  /** Reports that its socket holds while it is frozen. */
  waiting: number[];
  /** Ticks until it is there; its spool. */
  away: number;
  spool: readonly SentReport[];
  isGone: boolean;
}

/** All of the system over logs in memory, in virtual time. */
export class SimulatedWorld {
  readonly #schedule: Schedule;
  readonly #logs = Array.from({ length: PARTITIONS }, () => new SimulatedLog());
  readonly #partials = new SimulatedLog();
  readonly windows = new LatestWindows();
  /** Which task gave out each window, by id. */
  readonly #givenBy = new Map<string, number>();
  /** Of each partition: the record with which each instance was first heard. */
  readonly #first = Array.from({ length: PARTITIONS }, () => new Map<number, number>());
  /** Of each partition: the instances that were heard up to the last commit. */
  readonly #heard: ReadonlySet<number>[] = Array.from({ length: PARTITIONS }, () => new Set());
  /** Instances that were heard before the window of a flow was given out last, by id. */
  readonly #heardFor = new Map<string, ReadonlySet<number>>();
  /** Windows whose processor is gone. Nobody keeps them any more, so what comes for them is late. */
  readonly #final = new Set<string>();
  readonly #flows: readonly SimulatedTask[];
  readonly #network: SimulatedTask;
  #collectors: Collector[] = [];
  #instances = 0;
  #brokerAway = 0;
  #flowAway: number[] = [0, 0];
  #networkAway = 0;
  #turn = 0;
  /** What collectors have taken, whatever became of it. */
  readonly taken: SentReport[] = [];
  readonly delivered = new Set<SentReport>();
  /** Instances that have written anything. */
  readonly heard = new Set<number>();

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    const topics = topicsOf('');
    const times = { ...TIMES, latenessMs: schedule.latenessMs };
    const flowUnit = (side: number) => (): FlowUnit =>
      new FlowUnit(
        { side: { ...times, ...ROOM, flows: 16, windows: 2048, hops: 4, side }, format: 'auto', writers: LIMITS },
        topics,
        true,
      );
    const networkUnit = (): NetworkUnit =>
      new NetworkUnit({ ...times, sides: PARTITIONS, waitMs: 20_000, kept: 4096 }, topics, true);
    const found = ({ windows, corrections }: Findings, task: number): void => {
      for (const correction of corrections) this.windows.correct(correction);
      for (const window of windows) {
        this.windows.take(window);
        this.#givenBy.set(window.id, task);
      }
    };
    this.#flows = this.#logs.map(
      (log, side) =>
        new SimulatedTask(flowUnit(side), log, (findings, messages) => {
          found(findings, side);
          this.#noteHeard(findings, side);
          for (const { topic, value } of messages) {
            if (topic === topics.partials) this.#partials.append({ key: null, value, headers: [] });
          }
        }),
    );
    this.#network = new SimulatedTask(networkUnit, this.#partials, (findings) => found(findings, NETWORK));
    for (let count = 0; count < schedule.collectors; count++) this.#join(START_MS);
  }

  readonly #append: Append = (partition, record, instance) => {
    const { records } = this.#logs[partition]!;
    if (!this.#first[partition]!.has(instance)) this.#first[partition]!.set(instance, records.length);
    this.#logs[partition]!.append(record);
  };

  /** A window was closed after the commit before, when these instances had been heard. */
  #noteHeard({ windows }: Findings, side: number): void {
    const heard = this.#heard[side]!;
    for (const { id } of windows) this.#heardFor.set(id, heard);
    const end = this.#flows[side]!.offset;
    if (this.#first[side]!.size === heard.size) return;
    const first = [...this.#first[side]!];
    this.#heard[side] = new Set(first.filter(([, record]) => record < end).map(([instance]) => instance));
  }

  #join(clockMs: number, spool: readonly SentReport[] = []): Collector {
    const sink = new SimulatedSink(++this.#instances, spool);
    const one: Collector = { sink, clockMs, frozen: 0, cut: 0, waiting: [], away: 0, spool: [], isGone: false };
    this.#collectors.push(one);
    return one;
  }

  run(): void {
    for (let tick = 0; tick < BUSY_TICKS; tick++) {
      for (const fault of this.#schedule.faults) if (fault.at === tick) this.#begin(fault);
      this.#tick(true);
    }
    this.#heal();
    for (let tick = 0; tick < CALM_TICKS; tick++) this.#tick(false);
    for (const one of this.#collectors) {
      if (one.isGone) continue;
      this.#deliver(one, Number.POSITIVE_INFINITY);
      one.sink.end(one.clockMs, PARTITIONS, this.#append);
      one.isGone = true;
    }
    for (let tick = 0; tick < SILENT_TICKS; tick++) this.#tick(false);
    // What the network side still waits for ends with a time that nobody needs.
    this.#flush();
  }

  #begin({ kind, ticks, which }: Fault): void {
    const there = this.#collectors.filter(({ isGone }) => !isGone);
    const one = there[which % Math.max(1, there.length)];
    if (kind === 'broker') this.#brokerAway = Math.max(this.#brokerAway, ticks);
    else if (kind === 'killFlow') {
      this.#kill(this.#flows[which % PARTITIONS]!, which % PARTITIONS);
      this.#flowAway[which % PARTITIONS] = ticks;
    } else if (kind === 'killNetwork') {
      this.#kill(this.#network, NETWORK);
      this.#networkAway = ticks;
    } else if (one === undefined) return;
    else if (kind === 'newCollector') this.#join(one.clockMs + 40 * (which - 1));
    else if (kind === 'freezeCollector') one.frozen = ticks;
    else if (kind === 'cutCollector') one.cut = ticks;
    else if (kind === 'clockStep') one.clockMs += (which - 2) * 150 * (ticks % 7);
    else if (kind === 'dropReports') one.sink.drop(1 + (ticks % 5));
    else this.#endCollector(one, kind, ticks);
  }

  #kill(task: SimulatedTask, number: number): void {
    task.kill();
    for (const [id, by] of this.#givenBy) if (by === number) this.#final.add(id);
  }

  #endCollector(one: Collector, kind: Fault['kind'], ticks: number): void {
    one.isGone = true;
    if (kind === 'restartCollector' && this.#brokerAway === 0 && one.cut === 0) {
      this.#deliver(one, Number.POSITIVE_INFINITY);
      one.sink.end(one.clockMs, PARTITIONS, this.#append);
    }
    const next = this.#join(one.clockMs, kind === 'killCollector' ? [] : one.sink.pending);
    next.away = ticks;
  }

  #tick(isBusy: boolean): void {
    const { load, pace } = this.#schedule;
    for (const one of this.#collectors) this.#tickCollector(one, isBusy ? load[this.#turn++ % load.length]! : 0);
    const isThere = this.#brokerAway === 0;
    if (!isThere) this.#brokerAway--;
    this.#flows.forEach((task, index) => {
      if (this.#flowAway[index]! > 0) this.#flowAway[index]!--;
      else this.#work(task, pace, isThere);
    });
    if (this.#networkAway > 0) this.#networkAway--;
    else this.#work(this.#network, pace, isThere);
  }

  #work(task: SimulatedTask, pace: number, isThere: boolean): void {
    if (!isThere) return;
    task.start();
    task.step(pace, TICK_MS);
    if (this.#turn++ % 3 === 0) task.commit();
  }

  #tickCollector(one: Collector, reports: number): void {
    if (one.isGone) return;
    if (one.away > 0) {
      one.away--;
      one.clockMs += TICK_MS;
      return;
    }
    one.clockMs += TICK_MS;
    for (let count = 0; count < reports; count++) one.waiting.push((this.#turn + count) % FLOWS);
    if (one.frozen > 0) {
      one.frozen--;
      return;
    }
    // They get their time when they are read.
    for (const flow of one.waiting.splice(0)) {
      this.taken.push(one.sink.take(one.clockMs - (flow % 3), flow));
    }
    if (one.cut > 0) {
      one.cut--;
      return;
    }
    if (this.#brokerAway === 0) this.#deliver(one, this.#schedule.pace);
  }

  #deliver(one: Collector, most: number): void {
    this.heard.add(one.sink.instance);
    const delivered = one.sink.deliver(most, one.clockMs - 2, PARTITIONS, this.#append);
    for (const report of delivered) this.delivered.add(report);
  }

  #heal(): void {
    this.#brokerAway = 0;
    this.#flowAway = [0, 0];
    this.#networkAway = 0;
    for (const one of this.#collectors) {
      one.frozen = 0;
      one.cut = 0;
      one.away = 0;
    }
  }

  /** A last collector that comes much later and goes, so that all windows before it are closed, in the network as well. */
  #flush(): void {
    const last = this.#join(Math.max(...this.#collectors.map(({ clockMs }) => clockMs)) + 60_000);
    for (let tick = 0; tick < 8; tick++) this.#tick(false);
    last.sink.end(last.clockMs, PARTITIONS, this.#append);
    last.isGone = true;
    for (let tick = 0; tick < 40; tick++) this.#tick(false);
    for (const task of [...this.#flows, this.#network]) {
      task.start();
      task.commit();
    }
    this.#work(this.#network, 1e9, true);
    this.#network.commit();
  }

  /** Reports and hop records that were counted as late. */
  get late(): number {
    return [...this.#flows, this.#network].reduce((sum, { counts }) => sum + counts.late, 0);
  }

  /** Reports whose windows were corrected. */
  get corrected(): number {
    return this.#flows.reduce((sum, { counts }) => sum + counts.corrected, 0);
  }

  /** Windows that were given out as complete, and are not as corrections say. */
  get takenBack(): number {
    return [...this.windows.byName.values()].filter((window) => window.complete && !this.windows.isComplete(window))
      .length;
  }

  /** What does not add up; empty if all does. */
  wrong(): string[] {
    const wrong = [...this.windows.wrong];
    const all = [...this.windows.byName.values()];
    const expect = (what: string, found: number, wanted: number): void => {
      if (found !== wanted) wrong.push(`${what}: ${found}, not ${wanted}`);
    };
    const flowWindows = all.filter((window) => window.type === 'flowWindow');
    const switchWindows = all.filter((window) => window.type === 'switchWindow');
    const sum = (windows: readonly AnyWindow[], of: 'reports' | 'late'): number =>
      windows.reduce((total, window) => total + ('reports' in window ? window[of] : 0), 0);
    const counts = this.#flows.map((task) => task.counts);
    const total = (of: 'taken' | 'late' | 'untracked'): number => counts.reduce((found, one) => found + one[of], 0);
    expect('reports taken', total('taken'), this.delivered.size);
    expect('reports without room', total('untracked'), 0);
    expect('late in windows and totals', sum(flowWindows, 'late'), total('late'));
    expect('reports in windows', sum(flowWindows, 'reports') + total('late'), this.delivered.size);
    expect('late in windows of switches and totals', sum(switchWindows, 'late'), this.#network.counts.late);
    const hops = sum(switchWindows, 'reports') + sum(switchWindows, 'late');
    expect('hops in windows of switches', hops, this.delivered.size * PATH.length);
    wrong.push(...this.#unaccounted(), ...this.#incomplete(all), ...this.#lacking(flowWindows));
    return wrong;
  }

  /** Windows that are called complete and lack reports of sinks that had been heard, for which there is no excuse. */
  #lacking(windows: readonly FlowWindow[]): string[] {
    // A sink whose clock is set back takes back what it has confirmed.
    if (this.#schedule.faults.some(({ kind }) => kind === 'clockStep')) return [];
    const wrong: string[] = [];
    for (const window of windows) {
      if (!this.windows.isComplete(window)) continue;
      const { id, flow, startNs, reports } = window;
      const number = Math.floor(Number(startNs) / 1e6 / WINDOW_MS);
      const heard = this.#heardFor.get(id)!;
      const ofWindow = (report: SentReport): boolean =>
        5000 + report.flow === flow.sourcePort && Math.floor(report.timeMs / WINDOW_MS) === number;
      const wanted = this.taken.filter((report) => ofWindow(report) && heard.has(report.instance)).length;
      if (reports < wanted)
        wrong.push(`${id} is complete with ${reports} of ${wanted} reports of sinks that were heard`);
    }
    return wrong;
  }

  /**
   * Windows that do not account for all of their reports that are in the topic. One that is complete then lacks none of
   * them.
   */
  #unaccounted(): string[] {
    const wanted = new Map<string, number>();
    for (const { flow, timeMs } of this.delivered) {
      const startUs = Math.floor(timeMs / WINDOW_MS) * WINDOW_MS * 1000;
      const names = [flowNames[flow]!, `link-${PATH.join('-')}`, ...PATH.map((nodeId) => `switch-${nodeId}`)];
      for (const name of names) wanted.set(`${name}-${startUs}`, (wanted.get(`${name}-${startUs}`) ?? 0) + 1);
    }
    return [...wanted]
      .filter(([id, count]) => this.windows.accounted(id) !== count)
      .map(([id, count]) => `${id} accounts for ${this.windows.accounted(id)} of ${count} reports`);
  }

  /** Windows that are called complete though sinks have told, before they were out for good, of reports that they dropped. */
  #incomplete(all: readonly AnyWindow[]): string[] {
    const keyOf = (name: number | 'all', startMs: number): string => `${name} ${Math.floor(startMs / WINDOW_MS)}`;
    const dropped = new Map<string, number>();
    const count = (key: string): unknown => dropped.set(key, (dropped.get(key) ?? 0) + 1);
    for (const report of this.taken) {
      // Of a sink of which no word has come nobody can know.
      if (this.delivered.has(report) || !this.heard.has(report.instance)) continue;
      count(keyOf(5000 + report.flow, report.timeMs));
      count(keyOf('all', report.timeMs));
    }
    const wrong: string[] = [];
    for (const window of all) {
      const isOut = this.#schedule.latenessMs < ALWAYS_MS || this.#final.has(window.id);
      if (isOut || !this.windows.isComplete(window)) continue;
      const name = window.type === 'flowWindow' ? window.flow.sourcePort : 'all';
      const lacking = dropped.get(keyOf(name, Number(window.startNs) / 1e6)) ?? 0;
      if (lacking > 0) wrong.push(`${window.id} is complete without ${lacking} reports`);
    }
    return wrong;
  }
}
