import { setTimeout as sleep } from 'node:timers/promises';
import {
  Collector,
  type CollectorTotals,
  DEGRADED,
  type DegradedPart,
  DegradedStates,
  LiveStatistics,
  type Sink,
  SourceError,
} from '@int/collector';
import type { CollectSetup } from '../config/setup.js';
import { closeSinks } from '../config/sinks.js';
import { DemoFabric } from '../demo/fabric.js';
import { type TelemetryInput, UdpInput } from '../input/telemetry-input.js';
import { prefilterWords } from '../input/xdp-input.js';
import { endOf, opening } from '../interruption.js';
import { CliError, EXIT, type Io, say, sayHint } from '../io.js';
import { liveView } from '../live/live-view.js';
import { statsJson, summaryJson, totalJson } from '../output/collect-json.js';
import { colours } from '../output/colour.js';
import { detectionTable } from '../output/detection-summary.js';
import { DialectHint } from '../output/dialect-hint.js';
import type { HealthWatch } from '../output/health-watch.js';
import { LastStatistics } from '../output/last-statistics.js';
import { dropText, type LiveState, logLine, totalText } from '../output/live-state.js';
import { type MetricText, measuredText } from '../output/metric-text.js';
import type { MetricsEndpoint } from '../output/metrics-endpoint.js';
import { counted, grouped } from '../output/numbers.js';
import { RateMeter } from '../output/rate-meter.js';
import { sinkDrops, sinkLines } from '../output/sink-text.js';
import type { LiveDetection } from './live-detection.js';
import { LiveOutput } from './live-output.js';

/** Duration of the demo without a terminal, where nobody can stop it. */
const DEMO_MS = 10_000;
/** Time for printing the totals after draining, in milliseconds. */
const LAST_WORDS_MS = 2000;
const DEMO = { topology: 'leaf-spine:4x2', flows: 256, ratePps: 20_000, seed: 1 } as const;

export interface CollectForm {
  readonly json?: boolean | undefined;
  /** Run the demo's fabric, which sends to the collector. */
  readonly demo?: boolean | undefined;
}

function isInterfaceFailure(error: Error): boolean {
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  return SourceError.is(error) && (code === 'ERR_XDP_DOWN' || code === 'ERR_XDP_NO_DEVICE');
}

/** One run of `int collect`, from opening its sources to its exit code. */
export class CollectRun {
  readonly #form: CollectForm;
  readonly #setup: CollectSetup;
  readonly #io: Io;
  readonly #live: LiveOutput;
  readonly #detection: LiveDetection | null;
  readonly #statistics = new LiveStatistics();
  readonly #metricText: MetricText;
  readonly #lastStatistics: LastStatistics;
  readonly #metrics: MetricsEndpoint | null;
  readonly #health: HealthWatch;
  /** Degraded states of standard output. */
  readonly #outputStates = new DegradedStates();
  #input!: TelemetryInput;
  #hint!: DialectHint;
  /** What frames that are not read look like; `null`: nothing known. */
  #hintText: string | null = null;
  #collector!: Collector;
  #rate = new RateMeter(0);
  #sourceText = '';
  #started = 0;
  /** The interface went down or away, and the run does not wait for it. */
  #isCutOff = false;

  constructor(form: CollectForm, setup: CollectSetup, io: Io) {
    const { detection, metrics, isPatient, isInputUsed } = setup;
    this.#form = form;
    this.#setup = setup;
    this.#io = io;
    this.#detection = detection;
    this.#metrics = metrics;
    // A capture waits for the reader of its events; a network source does not.
    this.#live = new LiveOutput(io, form.json === true, setup.network, isPatient, isInputUsed);
    this.#metricText = measuredText(setup.network);
    this.#lastStatistics = new LastStatistics(this.#metricText);
    this.#health = this.#live.watch(() => this.#degraded());
    this.#outputStates.watch(
      DEGRADED.SHEDDING,
      () => detection?.notShown ?? 0,
      (events) => `${events} events not printed: whoever reads them is behind`,
    );
    if (detection !== null) this.#live.show(detection, () => this.#collector.totals(), setup.network);
  }

  #degraded(): readonly DegradedPart[] {
    const output = this.#outputStates.list().map((state) => ({ where: 'standard output', ...state }));
    return [...this.#collector.degraded(), ...(this.#metrics?.degraded() ?? []), ...output];
  }

  async #open(): Promise<void> {
    this.#input = await opening(this.#io, 'the source', this.#setup.input());
    const { sources, decode, isLive } = this.#input;
    const { knownSwitches } = this.#setup;
    const detection = this.#detection;
    const memory = detection?.takeMemory() ?? null;
    // Makes a capture wait for the reader of the output; it takes no records.
    const output: Sink = { name: 'standard output', write: () => this.#live.paced.flush(), totals: () => ({}) };
    this.#hint = new DialectHint(decode);
    this.#collector = new Collector({
      sources,
      decode,
      stages: [
        this.#statistics,
        ...(this.#metrics?.stages ?? []),
        ...(detection === null ? [] : [detection.stage]),
        ...this.#setup.stages,
        this.#hint,
      ],
      sinks: isLive ? this.#setup.sinks : [...this.#setup.sinks, output],
      ...(memory !== null && { memory }),
      ...(knownSwitches !== null && { knownSwitches }),
      onProblem: ({ error }) => {
        this.#live.hasProblem = true;
        if (isInterfaceFailure(error)) this.#isCutOff = true;
        this.#live.tell(error.message);
      },
    });
    try {
      await opening(this.#io, 'the source', this.#collector.start());
    } catch (error) {
      if (this.#io.signal.aborted || !this.#setup.giveUp(error)) {
        if (SourceError.is(error)) throw new CliError(error.message, EXIT.OPEN, error);
        throw error;
      }
      detection?.withoutPrefilter();
      await this.#open();
    }
  }

  async run(): Promise<number> {
    this.#io.drainWithin?.(this.#setup.drainMs + LAST_WORDS_MS);
    try {
      await this.#open();
    } catch (error) {
      await closeSinks(this.#setup.sinks);
      await this.#setup.close();
      throw error;
    }
    this.#started = performance.now();
    this.#rate = new RateMeter(this.#started);
    this.#announce();
    await this.#serveMetrics();
    this.#detection?.start();
    const fabric = this.#startDemo();
    this.#live.begin(() => this.#tick());
    let totals: CollectorTotals;
    let sent: number | null = null;
    try {
      await this.#end(fabric);
      if (fabric !== null) {
        const last = await fabric.stop();
        sent = last.sent;
        if (last.error !== null) throw new CliError(`the demo's fabric failed: ${last.error}`, EXIT.OPEN);
      }
      totals = await this.#collector.stop(this.#setup.drainMs);
    } finally {
      this.#live.pause();
      await this.#detection?.stop();
      await this.#metrics?.close();
      await this.#setup.close();
      this.#live.leave();
    }
    await this.#live.paced.flush();
    return this.#finish(totals, sent);
  }

  #end(fabric: DemoFabric | null): Promise<void> {
    const ends: Promise<unknown>[] = [this.#collector.finished];
    if (fabric !== null) {
      ends.push(fabric.ended);
      if (this.#io.stdout.isTTY !== true) ends.push(sleep(DEMO_MS, undefined, { ref: false }));
    }
    return endOf(this.#io, this.#live.data, Promise.race(ends));
  }

  #announce(): void {
    const { text, words } = this.#input;
    this.#sourceText = this.#form.demo === true ? `demo ${DEMO.topology} on ${text}` : text;
    if (this.#live.hasView) return;
    for (const line of words) say(this.#io, line);
    const prefilter = this.#detection?.prefilter ?? null;
    if (prefilter !== null) for (const line of prefilterWords(prefilter)) say(this.#io, line);
  }

  async #serveMetrics(): Promise<void> {
    if (this.#metrics === null) return;
    try {
      const { detection, stages } = this.#setup;
      const address = await this.#metrics.open(this.#collector, detection?.stage ?? null, stages, () =>
        this.#degraded(),
      );
      if (!this.#live.hasView) say(this.#io, `metrics on ${address}`);
    } catch (error) {
      await this.#collector.stop(this.#setup.drainMs);
      await this.#setup.close();
      throw error;
    }
  }

  #startDemo(): DemoFabric | null {
    if (this.#form.demo !== true || !(this.#input instanceof UdpInput)) return null;
    return new DemoFabric({ ...this.#input.sources[0]!.address, ...DEMO });
  }

  tell(message: string): void {
    this.#live.tell(message);
  }

  #state(degraded: readonly DegradedPart[]): LiveState {
    const now = performance.now();
    // Time of a capture comes from its frames.
    if (this.#input.isLive) this.#statistics.advance(Date.now());
    const totals = this.#collector.totals();
    this.#rate.update(now, totals);
    const statistics = this.#statistics.snapshot();
    this.#lastStatistics.see(statistics, totals.reports);
    return {
      source: this.#sourceText,
      elapsedMs: now - this.#started,
      totals,
      filtered: this.#input.filtered,
      receivedPerSecond: this.#rate.receivedPerSecond,
      reportsPerSecond: this.#rate.reportsPerSecond,
      statistics,
      detection: this.#detection?.state(this.#input.filtered ?? 0) ?? null,
      recentEvents: this.#detection?.recentEvents() ?? new Map(),
      degraded,
      metrics: this.#metricText,
      topology: this.#setup.network.topology,
      hint: this.#hintText,
    };
  }

  #tick(): void {
    const hint = this.#hint.look(performance.now());
    if (hint !== null) {
      this.#hintText = hint;
      this.#live.tell(hint);
    }
    const state = this.#state(this.#health.look());
    this.#live.draw(
      (...given) => liveView(state, `int collect  ${state.source}`, ...given),
      () => (this.#form.json === true ? JSON.stringify(statsJson(state)) : logLine(state)),
    );
  }

  async #finish(totals: CollectorTotals, sent: number | null): Promise<number> {
    const output = this.#live.data;
    const state = this.#state(this.#degraded());
    if (this.#form.json === true) {
      output.line(JSON.stringify(statsJson(state)));
      if (state.detection !== null) output.line(JSON.stringify(summaryJson(state.detection)));
      output.line(JSON.stringify(totalJson(totals, this.#input.filtered)));
    } else {
      for (const line of this.#lastStatistics.table()) output.line(line);
      if (state.detection !== null) {
        for (const line of detectionTable(state.detection, colours(false))) output.line(line);
      }
      if (sent !== null) output.line(`sent by the demo's fabric: ${grouped(sent)}`);
      output.line(`reports: ${grouped(totals.reports)}`);
      output.line(`dropped: ${dropText(totals)}`);
      const kernel =
        totals.kernelDropped === null ? 'unknown, this system does not tell' : grouped(totals.kernelDropped);
      output.line(`dropped by the kernel: ${kernel}`);
      const { filtered } = this.#input;
      if (filtered !== null) output.line(`filtered in the kernel, without events: ${grouped(filtered)}`);
      if (totals.clockStepsBack !== undefined) {
        output.line(`the clock was set back: ${counted(totals.clockStepsBack, 'time')}`);
      }
      if (totals.outages !== undefined) output.line(`outages of sources: ${grouped(totals.outages)}`);
      const loss = totals.stages['report loss'];
      if (loss !== undefined) output.line(`report packets that did not arrive: ${grouped(loss.lost! + loss.missing!)}`);
      for (const line of sinkLines(totals.sinks)) output.line(line);
      output.line(totalText(totals));
    }
    await output.finish();
    sayHint(this.#io, this.#hint);
    if (this.#isCutOff) return EXIT.OPEN;
    if (output.closed) return EXIT.OK;
    const { truncated, malformed, unsupported } = totals.dropped;
    const lost = truncated + malformed + unsupported + sinkDrops(totals.sinks);
    return this.#live.hasProblem || lost > 0 ? EXIT.INPUT : EXIT.OK;
  }
}
