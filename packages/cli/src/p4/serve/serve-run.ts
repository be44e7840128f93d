/** Runs switches until a signal comes: the loop, live statistics, metrics. */
import { within } from '@int/collector/internals';
import { ForwardingLoop } from '@int/p4switch';
import { endOf } from '../../interruption.js';
import { CliError, EXIT, hasColour, type Io, say } from '../../io.js';
import { TerminalSession } from '../../live/terminal-session.js';
import { fit } from '../../live/text-width.js';
import { type Colours, colours } from '../../output/colour.js';
import { DataOutput } from '../../output/data-output.js';
import type { MetricsAddress } from '../../output/metrics-endpoint.js';
import { PacedOutput } from '../../output/paced-output.js';
import { DRAIN_MS } from '../../stopping.js';
import type { ControlServer } from './control-server.js';
import type { ServedSwitch } from './served-switch.js';
import { serveSwitchMetrics } from './switch-metrics.js';
import {
  controlText,
  logLine,
  readingJson,
  readSwitch,
  type SwitchReading,
  totalLines,
  viewLines,
} from './switch-text.js';

export interface ServeRunOptions {
  /** Of the view: the command and what it serves. */
  readonly title: string;
  readonly switches: readonly ServedSwitch[];
  readonly isJson: boolean;
  readonly spinMs?: number;
  readonly metrics?: MetricsAddress | undefined;
  readonly metricsAllowHost?: readonly string[] | undefined;
  /** The server for controllers, asked for when the run begins. */
  readonly control?: () => ControlServer;
}

const TICK_MS = 1000;
/** Time for closing everything; the rest of DRAIN_MS is for the totals. */
const STOP_MS = DRAIN_MS - 2000;
const UNREAD_LIMIT = 1 << 20;
/** Most messages kept while the view is on. */
const MOST_MESSAGES = 5;

export class ServeRun {
  readonly #io: Io;
  readonly #options: ServeRunOptions;
  readonly #output: DataOutput;
  readonly #paced: PacedOutput;
  readonly #screen: TerminalSession | null;
  readonly #colour: Colours;
  readonly loop: ForwardingLoop;
  #messages: string[] = [];
  #before: readonly SwitchReading[] = [];
  #beforeAt = 0;
  #started = 0;
  #fault: unknown = null;
  #onFault: () => void = () => {};

  constructor(io: Io, options: ServeRunOptions) {
    this.#io = io;
    this.#options = options;
    this.#output = new DataOutput(io.stdout);
    this.#paced = new PacedOutput(this.#output, UNREAD_LIMIT);
    this.#colour = colours(hasColour(io, io.stdout));
    this.loop = new ForwardingLoop(
      options.switches.map(({ core }) => core),
      options.spinMs === undefined ? {} : { spinMs: options.spinMs },
    );
    const isShown = io.stdout.isTTY === true && !options.isJson;
    this.#screen = isShown
      ? new TerminalSession(
          io.stdout,
          null,
          undefined,
          () => {},
          () => this.#tick(),
        )
      : null;
  }

  /** Prints a message; a view keeps the last ones. */
  readonly tell = (message: string): void => {
    if (this.#screen === null) say(this.#io, message);
    else this.#messages = [...this.#messages.slice(1 - MOST_MESSAGES), message];
  };

  /** Ends the run with an error. */
  readonly fail = (error: unknown): void => {
    this.#fault ??= error;
    this.#onFault();
  };

  /**
   * Runs until a signal comes or its output has no reader any more.
   * @returns the exit code
   * @throws CliError (rejects) if something cannot be opened, or an error ends the run
   */
  async run(): Promise<number> {
    const { metrics, metricsAllowHost, control, switches } = this.#options;
    const failed = new Promise<void>((resolve) => {
      this.#onFault = resolve;
    });
    const ended = Promise.race([endOf(this.#io, this.#output), failed]);
    const closing: (() => Promise<void>)[] = [];
    let ticker: NodeJS.Timeout | undefined;
    let hasStopped = true;
    try {
      this.loop.start();
      this.#started = performance.now();
      this.#beforeAt = this.#started;
      if (control !== undefined) {
        const server = control();
        closing.push(() => server.close());
        const text = await server.listen();
        if (this.#screen === null) say(this.#io, text);
      }
      if (metrics !== undefined) {
        const server = await serveSwitchMetrics(switches, this.loop, metrics, control?.() ?? null, metricsAllowHost);
        closing.push(() => server.close());
        if (this.#screen === null) say(this.#io, `metrics at port ${server.address.port}`);
      }
      if (this.#screen === null) say(this.#io, `${this.#options.title}: forwarding`);
      this.#before = switches.map(readSwitch);
      this.#screen?.enter();
      ticker = setInterval(() => this.#tick(), TICK_MS);
      await ended;
    } finally {
      clearInterval(ticker);
      this.#screen?.leave();
      hasStopped = await within(STOP_MS, this.#stop(closing));
    }
    await this.#finish();
    if (this.#fault !== null) {
      const message = this.#fault instanceof Error ? this.#fault.message : String(this.#fault);
      throw new CliError(message, EXIT.OPEN, this.#fault);
    }
    if (!hasStopped) say(this.#io, `not all ports were closed within ${STOP_MS / 1000} s`);
    return EXIT.OK;
  }

  async #stop(closing: readonly (() => Promise<void>)[]): Promise<void> {
    for (const close of closing) await close();
    await this.loop.stop();
    await Promise.all(this.#options.switches.map(({ core }) => core.close()));
  }

  #tick(): void {
    const { title, switches, isJson } = this.#options;
    const now = performance.now();
    const readings = switches.map(readSwitch);
    const seconds = (now - this.#beforeAt) / 1000;
    const elapsed = now - this.#started;
    if (this.#screen !== null) {
      const lines = viewLines(title, elapsed, readings, this.#before, seconds, this.#screen.columns, this.#colour);
      const messages = this.#messages.map((message) => this.#colour.yellow(fit(message, this.#screen!.columns)));
      this.#screen.draw([...lines, '', ...messages]);
      // A resize between two ticks keeps the rates.
      if (seconds < TICK_MS / 2000) return;
    } else {
      const lines = isJson
        ? readings.map((reading) => JSON.stringify({ type: 'stats', ...readingJson(reading) }))
        : [logLine(elapsed, readings, this.#before, seconds)];
      for (const line of lines) this.#paced.add(line);
      void this.#paced.flush();
    }
    this.#before = readings;
    this.#beforeAt = now;
  }

  async #finish(): Promise<void> {
    for (const message of this.#messages) say(this.#io, message);
    await this.#paced.flush();
    const { isJson, control } = this.#options;
    if (control !== undefined) {
      const counts = control().counts();
      const text = controlText(counts);
      if (isJson) await this.#output.line(JSON.stringify({ type: 'control', ...counts }));
      else if (text !== null) await this.#output.line(text);
    }
    for (const each of this.#options.switches) {
      const reading = readSwitch(each);
      const lines = this.#options.isJson
        ? [JSON.stringify({ type: 'total', ...readingJson(reading) })]
        : totalLines(reading);
      for (const line of lines) await this.#output.line(line);
    }
    await this.#output.end();
  }
}
