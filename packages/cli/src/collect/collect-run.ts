import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  Collector,
  type CollectorTotals,
  DEGRADED,
  type DegradedPart,
  DegradedStates,
  LiveStatistics,
  type Sink,
  SourceError,
  type Stage,
} from '@int/collector';
import type { CollectSetup, ConfigSetup } from '../config/setup.js';
import { closeSinks } from '../config/sinks.js';
import type { DashboardEndpoint } from '../dashboard/endpoint.js';
import { DemoFabric } from '../demo/fabric.js';
import type { FileWatch } from '../input/file-watch.js';
import { type TelemetryInput, UdpInput } from '../input/telemetry-input.js';
import { prefilterWords } from '../input/xdp-input.js';
import { endOf, opening } from '../interruption.js';
import { CliError, EXIT, type Io, say, sayHint } from '../io.js';
import { liveView } from '../live/live-view.js';
import { namesAlike, rulesContextOf, sameUnits } from '../network/known-network.js';
import { statsJson, summaryJson, totalJson } from '../output/collect-json.js';
import { colours } from '../output/colour.js';
import type { Notice } from '../output/detection-state.js';
import { detectionTable } from '../output/detection-summary.js';
import { DialectHint } from '../output/dialect-hint.js';
import type { HealthWatch } from '../output/health-watch.js';
import { LastStatistics } from '../output/last-statistics.js';
import { dropText, type LiveState, logLine, totalText } from '../output/live-state.js';
import { measuredText } from '../output/metric-text.js';
import type { MetricsEndpoint } from '../output/metrics-endpoint.js';
import { counted, grouped } from '../output/numbers.js';
import { RateMeter } from '../output/rate-meter.js';
import { sinkDrops, sinkLines } from '../output/sink-text.js';
import { ConfigReload } from './config-reload.js';
import type { LiveDetection } from './live-detection.js';
import { LiveOutput } from './live-output.js';

/** Duration of the demo without a terminal, where nobody can stop it. */
const DEMO_MS = 10_000;
/** Time for printing the totals after draining, in milliseconds. */
const LAST_WORDS_MS = 2000;
/** Time for a reload to end when the collector has. */
const RELOAD_MS = 500;
const DEMO = { topology: 'leaf-spine:4x2', flows: 256, ratePps: 20_000, seed: 1 } as const;

export interface CollectForm {
  readonly json?: boolean | undefined;
  /** Run the demo's fabric, which sends to the collector. */
  readonly demo?: boolean | undefined;
}

/** A configuration to be read again. */
export interface ConfigFile {
  readonly path: string;
  /** Made before the file was read. */
  readonly watch: FileWatch;
  readonly setup: ConfigSetup;
}

function isInterfaceFailure(error: Error): boolean {
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  return SourceError.is(error) && (code === 'ERR_XDP_DOWN' || code === 'ERR_XDP_NO_DEVICE');
}

/** One run of `int collect`, from opening its sources to its exit code. */
export class CollectRun {
  readonly #form: CollectForm;
  #setup: CollectSetup;
  readonly #io: Io;
  readonly #live: LiveOutput;
  readonly #statistics = new LiveStatistics();
  readonly #lastStatistics = new LastStatistics();
  readonly #health: HealthWatch;
  /** Degraded states of standard output. */
  readonly #outputStates = new DegradedStates();
  /** Makes a capture wait for the reader of the output; it takes no records. */
  readonly #output: Sink = { name: 'standard output', write: () => this.#live.paced.flush(), totals: () => ({}) };
  readonly #reload: ConfigReload | null;
  /** Result of the last reload of the configuration. */
  #notice: Notice | null = null;
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

  /** @param file the configuration that the setup is made of, to be read again when it changes */
  constructor(form: CollectForm, setup: CollectSetup, io: Io, file: ConfigFile | null = null) {
    const { isPatient } = setup;
    const isInputUsed = setup.isInputUsed || file?.path === '-';
    this.#form = form;
    this.#setup = setup;
    this.#io = io;
    // A capture waits for the reader of its events; a network source does not.
    this.#live = new LiveOutput(io, form.json === true, setup.network, isPatient, isInputUsed);
    this.#health = this.#live.watch(() => this.#degraded());
    this.#outputStates.watch(
      DEGRADED.SHEDDING,
      () => this.#detection?.notShown ?? 0,
      (events) => `${events} events not printed: whoever reads them is behind`,
    );
    this.#show(setup);
    this.#reload =
      file === null
        ? null
        : new ConfigReload(
            file.watch,
            file.path,
            file.setup,
            (next, before) => this.#exchange(next, before),
            (problems, message) => {
              this.#notice = { text: problems[0] ?? message, isProblem: problems.length > 0 };
              this.#live.tellReload(problems, message);
            },
            io,
          );
  }

  get #detection(): LiveDetection | null {
    return this.#setup.detection;
  }

  get #metrics(): MetricsEndpoint | null {
    return this.#setup.metrics;
  }

  get #dashboard(): DashboardEndpoint | null {
    return this.#setup.dashboard;
  }

  /** @param before what was shown so far */
  #show({ detection, network }: CollectSetup, before: CollectSetup | null = null): void {
    if (before !== null && !sameUnits(network.device, before.network.device)) this.#live.changeUnits(network.device);
    if (detection !== null) this.#live.show(detection, () => this.#collector.totals(), network);
  }

  #stages({ metrics, detection, stages }: CollectSetup): readonly Stage[] {
    return [this.#statistics, ...(metrics?.stages ?? []), ...(detection === null ? [] : [detection.stage]), ...stages];
  }

  /** @param isLive whether the sources do not wait for the reader of the output */
  #sinks({ sinks, dashboard }: CollectSetup, isLive: boolean): readonly Sink[] {
    return [...sinks, ...(dashboard === null ? [] : [dashboard]), ...(isLive ? [] : [this.#output])];
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
    this.#hint = new DialectHint(decode);
    this.#collector = new Collector({
      sources,
      decode,
      stages: [...this.#stages(this.#setup), this.#hint],
      sinks: this.#sinks(this.#setup, isLive),
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
      // It takes everything from the first report on.
      await this.#dashboard?.open(this.#setup, (message) => this.#live.tell(message));
      await this.#open();
    } catch (error) {
      await closeSinks(this.#sinks(this.#setup, true));
      await this.#setup.close();
      throw error;
    }
    this.#started = performance.now();
    this.#rate = new RateMeter(this.#started);
    this.#dashboard?.attach(this.#collector, () => this.#degraded());
    this.#announce();
    await this.#serveMetrics();
    this.#detection?.start();
    this.#reload?.start();
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
      const over = this.#reload?.stop();
      totals = await this.#collector.stop(this.#setup.drainMs);
      // A reload under way ends with the collector, unless it opens what does not answer.
      await Promise.race([over, sleep(RELOAD_MS, undefined, { ref: false })]);
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
    const ends: Promise<unknown>[] = [this.#collector.finished.then(() => this.#stay())];
    if (fabric !== null) {
      ends.push(fabric.ended);
      if (this.#io.stdout.isTTY !== true) ends.push(sleep(DEMO_MS, undefined, { ref: false }));
    }
    return endOf(this.#io, this.#live.data, Promise.race(ends));
  }

  /** What a capture has shown stays on the page until a signal comes. */
  #stay(): Promise<void> | undefined {
    const url = this.#dashboard?.url ?? null;
    if (url === null || !this.#setup.isPatient || this.#io.signal.aborted) return undefined;
    if (!this.#live.hasView) this.#live.tell(`the capture has ended; ${url} shows it until Ctrl-C`);
    return new Promise(() => {});
  }

  #announce(): void {
    const { text, words } = this.#input;
    this.#sourceText = this.#form.demo === true ? `demo ${DEMO.topology} on ${text}` : text;
    if (this.#live.hasView) return;
    for (const line of words) say(this.#io, line);
    this.#sayDashboard();
    const prefilter = this.#detection?.prefilter ?? null;
    if (prefilter !== null) for (const line of prefilterWords(prefilter)) say(this.#io, line);
  }

  #sayDashboard(): void {
    const url = this.#dashboard?.url ?? null;
    if (url !== null && !this.#live.hasView) say(this.#io, `dashboard on ${url}`);
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

  /** Puts another setup in the place of the present one. Parts that both have go on. */
  async #exchange(next: ConfigSetup, before: ConfigSetup): Promise<void> {
    const [input, page, hint] = [this.#input, before.metrics, this.#hint];
    const served = (): Promise<string> =>
      next.metrics!.open(this.#collector, next.detection?.stage ?? null, next.stages, () => this.#degraded());
    // A page with the server of the present one, or with its address, comes after it.
    const isLate = page !== null && (next.metrics?.shares(page) || next.metrics?.follows(page));
    let address: string | null = null;
    try {
      const exchanges = await next.exchanges(before);
      if (next.metrics !== null && !isLate) address = await served();
      const { sources, decode, isLive } = next.made;
      const handOver = next.handOver(before);
      const memory = next.detection === before.detection ? null : (next.detection?.takeMemory() ?? null);
      const reads = isDeepStrictEqual(decode, input.decode) ? {} : { decode };
      if ('decode' in reads) this.#hint = new DialectHint(decode);
      this.#show(next, before);
      next.use();
      this.#setup = next;
      this.#input = next.made;
      await this.#collector.reconfigure(
        {
          sources,
          exchanges,
          stages: [...this.#stages(next), this.#hint],
          sinks: this.#sinks(next, isLive),
          ...reads,
          knownSwitches: next.knownSwitches,
          ...(memory !== null && { memory }),
          ...(handOver !== null && { handOver }),
        },
        next.drainMs,
      );
    } catch (error) {
      this.#setup = before;
      this.#input = input;
      this.#hint = hint;
      this.#show(before, next);
      if (!isLate) await next.metrics?.close();
      await next.discard(before);
      throw error instanceof CliError ? error : new CliError((error as Error).message, EXIT.OPEN, error);
    }
    await this.#replaced(next, before, isLate === true ? served : null, address);
  }

  /** After a change: ends what is no longer needed. @param servedLate opens the page that takes the place of the old one */
  async #replaced(
    next: ConfigSetup,
    before: ConfigSetup,
    servedLate: (() => Promise<string>) | null,
    address: string | null,
  ): Promise<void> {
    this.#sourceText = next.made.text;
    this.#hintText = null;
    await before.leave(next);
    if (before.metrics !== null && next.metrics?.shares(before.metrics) !== true) await before.metrics.close();
    try {
      await servedLate?.();
    } catch (error) {
      this.#live.hasProblem = true;
      this.#live.tell((error as Error).message);
    }
    if (this.#reload?.isStopped === true) return;
    await this.#showDashboard(next, before);
    this.#io.drainWithin?.(next.drainMs + LAST_WORDS_MS);
    if (next.detection !== before.detection) next.detection?.start();
    else if (!namesAlike(next.network, before.network)) next.detection?.refer(rulesContextOf(next.network));
    if (this.#live.hasView) return;
    for (const line of next.made.wordsBeside(before.made)) say(this.#io, line);
    if (address !== null) say(this.#io, `metrics on ${address}`);
  }

  /** Opens a dashboard that the file has got, or tells the present one what has changed. The old one is closed. */
  async #showDashboard(next: ConfigSetup, before: ConfigSetup): Promise<void> {
    const { dashboard } = next;
    if (dashboard === null) return;
    if (dashboard === before.dashboard) {
      dashboard.follow(next);
      return;
    }
    try {
      await dashboard.open(next, (message) => this.#live.tell(message));
      dashboard.attach(this.#collector, () => this.#degraded());
      this.#sayDashboard();
    } catch (error) {
      this.#live.hasProblem = true;
      this.#live.tell((error as Error).message);
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
      notice: this.#notice,
      metrics: measuredText(this.#setup.network),
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
      (...given) => liveView(state, this.#title(state), ...given),
      () => (this.#form.json === true ? JSON.stringify(statsJson(state)) : logLine(state)),
    );
  }

  #title({ source }: LiveState): string {
    const url = this.#dashboard?.url ?? null;
    return url === null ? `int collect  ${source}` : `int collect  ${source}  page ${url}`;
  }

  async #finish(totals: CollectorTotals, sent: number | null): Promise<number> {
    const output = this.#live.data;
    const state = this.#state(this.#degraded());
    if (this.#form.json === true) {
      output.line(JSON.stringify(statsJson(state)));
      if (state.detection !== null) output.line(JSON.stringify(summaryJson(state.detection)));
      output.line(JSON.stringify(totalJson(totals, this.#input.filtered)));
    } else {
      for (const line of this.#lastStatistics.table(state.metrics)) output.line(line);
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
