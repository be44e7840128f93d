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
import { opening } from '../interruption.js';
import { CliError, EXIT, hasColour, type Io, say } from '../io.js';
import { statsJson, summaryJson, totalJson } from '../output/collect-json.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { detectionTable } from '../output/detection-summary.js';
import { eventJson, placedEvent } from '../output/event-text.js';
import { HealthWatch } from '../output/health-watch.js';
import { LastStatistics } from '../output/last-statistics.js';
import { dropText, type LiveState, liveView, logLine, totalText } from '../output/live-view.js';
import type { MetricsEndpoint } from '../output/metrics-endpoint.js';
import { counted, grouped } from '../output/numbers.js';
import { PacedOutput } from '../output/paced-output.js';
import { printable } from '../output/printable.js';
import { RateMeter } from '../output/rate-meter.js';
import { Screen } from '../output/screen.js';
import { sinkDrops, sinkLines } from '../output/sink-text.js';
import type { LiveDetection } from './live-detection.js';

const LOG_MS = 1000;
const REDRAW_MS = 250;
/** Duration of the demo without a terminal, where nobody can stop it. */
const DEMO_MS = 10_000;
/** Time for printing the totals after draining, in milliseconds. */
const LAST_WORDS_MS = 2000;
/** Characters of event lines kept for a slow reader: about 30 000 events. */
const UNREAD_LIMIT = 1 << 23;
/** Most problems remembered while the live view is on. */
const MAX_UNTOLD = 20;
const DEMO = { topology: 'leaf-spine:4x2', flows: 256, ratePps: 20_000, seed: 1 } as const;

/** The reason why a run ends. */
type End = 'interrupted' | 'finished' | 'demo';

/** Output options of a run. */
export interface CollectForm {
  /** Print lines of JSON instead of text or a live view. */
  readonly json?: boolean | undefined;
  /** Run the demo's fabric, which sends to the collector. */
  readonly demo?: boolean | undefined;
}

/** Whether a source has failed because of its network interface. */
function isInterfaceFailure(error: Error): boolean {
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  return SourceError.is(error) && (code === 'ERR_XDP_DOWN' || code === 'ERR_XDP_NO_DEVICE');
}

/** One run of `int collect`, from opening its sources to its exit code. */
export class CollectRun {
  readonly #form: CollectForm;
  readonly #setup: CollectSetup;
  readonly #io: Io;
  readonly #output: DataOutput;
  /** Output during the run. */
  readonly #paced: PacedOutput;
  readonly #detection: LiveDetection | null;
  readonly #screen: Screen | null;
  readonly #statistics = new LiveStatistics();
  readonly #lastStatistics = new LastStatistics();
  readonly #metrics: MetricsEndpoint | null;
  readonly #health: HealthWatch;
  /** Degraded states of standard output. */
  readonly #outputStates = new DegradedStates();
  #input!: TelemetryInput;
  #collector!: Collector;
  #rate = new RateMeter(0);
  #sourceText = '';
  #started = 0;
  #failed = false;
  /** The interface went down or away, and the run does not wait for it. */
  #isCutOff = false;
  /** Messages held back while the live view hides standard error. */
  readonly #untold: string[] = [];

  constructor(form: CollectForm, setup: CollectSetup, io: Io) {
    const { detection, metrics, isPatient } = setup;
    this.#form = form;
    this.#setup = setup;
    this.#io = io;
    this.#detection = detection;
    this.#metrics = metrics;
    this.#output = new DataOutput(io.stdout);
    // A capture waits for the reader of its events; a network source does not.
    this.#paced = new PacedOutput(this.#output, isPatient ? Number.POSITIVE_INFINITY : UNREAD_LIMIT);
    this.#screen = io.stdout.isTTY === true && form.json !== true ? new Screen(io.stdout) : null;
    this.#health = new HealthWatch(
      () => this.#degraded(),
      // The live view shows the states itself.
      (message) => {
        if (this.#screen === null) this.tell(message);
      },
    );
    this.#outputStates.watch(
      DEGRADED.SHEDDING,
      () => detection?.notShown ?? 0,
      (events) => `${events} events not printed: whoever reads them is behind`,
    );
    if (detection !== null) this.#show(detection);
  }

  /** The command's present degraded states. */
  #degraded(): readonly DegradedPart[] {
    const output = this.#outputStates.list().map((state) => ({ where: 'standard output', ...state }));
    return [...this.#collector.degraded(), ...(this.#metrics?.degraded() ?? []), ...output];
  }

  async #open(): Promise<void> {
    this.#input = await opening(this.#io, 'the source', this.#setup.input());
    const { sources, decode, isLive } = this.#input;
    const detection = this.#detection;
    const memory = detection?.takeMemory() ?? null;
    this.#collector = new Collector({
      sources,
      decode,
      stages: [
        this.#statistics,
        ...(this.#metrics?.stages ?? []),
        ...(detection === null ? [] : [detection.stage]),
        ...this.#setup.stages,
      ],
      sinks: isLive ? this.#setup.sinks : [...this.#setup.sinks, this.#outputSink()],
      ...(memory !== null && { memory }),
      onProblem: ({ error }) => {
        this.#failed = true;
        if (isInterfaceFailure(error)) this.#isCutOff = true;
        this.tell(error.message);
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

  /** A sink that makes a capture wait for the reader of the output; it takes no records. */
  #outputSink(): Sink {
    return { name: 'standard output', write: () => this.#paced.flush(), totals: () => ({}) };
  }

  /** Prints events as lines, or keeps them for the view. */
  #show(detection: LiveDetection): void {
    detection.firstNumber = (frames): number => this.#collector.totals().received - frames + 1;
    detection.tell = (problems, message): void => {
      if (problems.length > 0) this.#failed = true;
      for (const problem of problems) this.#writeWords(problem);
      this.tell(message);
    };
    if (this.#screen !== null) detection.onEvents = (events): void => detection.remember(events);
    if (this.#form.json !== true) return;
    const paced = this.#paced;
    detection.onEvents = (events): void => {
      const number = detection.firstNumber(events.batch.frames);
      for (let row = 0; row < events.count; row++) {
        // Do not format a line that cannot be added.
        if (paced.isFull) detection.notShown++;
        else paced.add(eventJson(placedEvent(events, row, number)));
      }
      void paced.flush();
    };
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
    const ticker = setInterval(() => this.#tick(), this.#screen === null ? LOG_MS : REDRAW_MS);
    this.#screen?.enter();
    if (this.#screen !== null) this.#tick();
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
      clearInterval(ticker);
      await this.#detection?.stop();
      await this.#metrics?.close();
      await this.#setup.close();
      this.#screen?.leave();
      for (const line of this.#untold) this.#io.stderr.write(`${printable(line)}\n`);
    }
    await this.#paced.flush();
    return this.#finish(totals, sent);
  }

  /** Resolves when the run should end. */
  #end(fabric: DemoFabric | null): Promise<End> {
    const { signal } = this.#io;
    return new Promise((resolve) => {
      if (signal.aborted) resolve('interrupted');
      signal.addEventListener('abort', () => resolve('interrupted'), { once: true });
      this.#output.onClosed = (): void => resolve('finished');
      void this.#collector.finished.then(() => resolve('finished'));
      if (fabric === null) return;
      void fabric.ended.then(() => resolve('demo'));
      if (this.#io.stdout.isTTY !== true) setTimeout(() => resolve('demo'), DEMO_MS).unref();
    });
  }

  #announce(): void {
    const { text, words } = this.#input;
    this.#sourceText = this.#form.demo === true ? `demo ${DEMO.topology} on ${text}` : text;
    if (this.#screen !== null) return;
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
      if (this.#screen === null) say(this.#io, `metrics on ${address}`);
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

  /** Prints a message at once, or after the live view has ended. */
  tell(message: string): void {
    this.#writeWords(`int: ${message}`);
  }

  #writeWords(line: string): void {
    if (this.#screen === null) this.#io.stderr.write(`${printable(line)}\n`);
    else if (this.#untold.length < MAX_UNTOLD) this.#untold.push(line);
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
      degraded,
    };
  }

  #tick(): void {
    const state = this.#state(this.#health.look());
    if (this.#screen !== null) {
      const { columns, rows } = this.#screen;
      this.#screen.draw(liveView(state, columns, rows, colours(hasColour(this.#io))));
      return;
    }
    // A slow reader misses seconds; nothing accumulates here.
    if (this.#paced.isBehind) return;
    this.#paced.add(this.#form.json === true ? JSON.stringify(statsJson(state)) : logLine(state));
    void this.#paced.flush();
  }

  async #finish(totals: CollectorTotals, sent: number | null): Promise<number> {
    const output = this.#output;
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
    await output.end();
    if (output.error !== null) throw new CliError(`cannot write: ${output.error.message}`, EXIT.OPEN);
    if (this.#isCutOff) return EXIT.OPEN;
    if (output.closed) return EXIT.OK;
    const { truncated, malformed, unsupported } = totals.dropped;
    const lost = truncated + malformed + unsupported + sinkDrops(totals.sinks);
    return this.#failed || lost > 0 ? EXIT.INPUT : EXIT.OK;
  }
}
