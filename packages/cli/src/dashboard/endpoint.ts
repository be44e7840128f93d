import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { TelemetryBatch } from '@int/codec';
import type { Collector, DegradedPart, DegradedState, RecordKind, Sink, SinkTotals } from '@int/collector';
import type { ControlSource, Dashboard, RunningRules } from '@int/dashboard';
import type { EventBatch } from '@int/detect';
import type { LiveDetection } from '../collect/live-detection.js';
import { readRegular } from '../input/text-file.js';
import { CliError, EXIT } from '../io.js';
import type { KnownNetwork } from '../network/known-network.js';
import type { DashboardSettings } from './settings.js';

/** Ports that are tried, one after the other, if nobody chose one. */
const PORTS = 10;
const MOST_TOKEN = 4096;
const MOST_PEM = 1 << 20;

/** What the dashboard is told of a run. */
export interface DashboardRun {
  readonly network: KnownNetwork;
  readonly detection: LiveDetection | null;
  /** Folder of the history in Parquet files. */
  readonly history: string | null;
}

/**
 * The dashboard of a run: a sink from the beginning, and a server once it is open. If its port is in use, the run goes on
 * without.
 */
export class DashboardEndpoint implements Sink {
  readonly name = 'dashboard';
  readonly records: readonly RecordKind[] = ['reports', 'events'];
  readonly settings: DashboardSettings;
  #dashboard: Dashboard | null = null;
  /** Why there is none. */
  #failure: string | null = null;
  #opened: Promise<void> | null = null;
  /** What the dashboard may ask; it changes with the rules. */
  readonly #answers: Record<string, (data: unknown) => unknown> = {};
  #rulesOf: ((detection: LiveDetection) => RunningRules) | null = null;
  #detection: LiveDetection | null = null;
  #run: DashboardRun | null = null;
  #control: ControlSource | null = null;

  constructor(settings: DashboardSettings) {
    this.settings = settings;
  }

  /** This endpoint if the settings are the same, else a new one. */
  following(settings: DashboardSettings): DashboardEndpoint {
    return isDeepStrictEqual(settings, this.settings) ? this : new DashboardEndpoint(settings);
  }

  /** The page's address; `null`: it is not open. */
  get url(): string | null {
    return this.#dashboard?.url ?? null;
  }

  /** Shows a controller, too. To be called before it opens. */
  show(control: ControlSource): void {
    this.#control = control;
  }

  /**
   * Starts the server. Calling it again does nothing.
   * @param tell is told that the port is in use, and what is done instead
   * @throws CliError (rejects) if a file cannot be read, or what is in it cannot be used, or the address is none of this machine
   */
  open(run: DashboardRun, tell: (message: string) => void): Promise<void> {
    this.#opened ??= this.#open(run, tell);
    return this.#opened;
  }

  /** Says where the collector's counters are. */
  attach(collector: Collector, degraded: () => readonly DegradedPart[]): void {
    this.#dashboard?.setPipeline(() => ({ totals: collector.totals(), degraded: degraded() }));
  }

  /** Replaces what is known of the network and the rules. */
  follow(run: DashboardRun): void {
    this.#run = run;
    this.#dashboard?.setNetwork(run.network);
    this.#offerRules(run.detection);
    this.#dashboard?.setFacts(this.#factsOf(run));
  }

  write(batch: TelemetryBatch): undefined {
    this.#dashboard?.write(batch);
    return undefined;
  }

  writeEvents(events: EventBatch): undefined {
    this.#dashboard?.writeEvents(events);
    return undefined;
  }

  advance(timeMs: number): void {
    this.#dashboard?.advance(timeMs);
  }

  totals(): SinkTotals {
    return {};
  }

  health(): string | null {
    return this.#failure;
  }

  degraded(): readonly DegradedState[] {
    return this.#dashboard?.degraded() ?? [];
  }

  async close(): Promise<void> {
    await this.#opened?.catch(() => {});
    await this.#dashboard?.close();
  }

  #factsOf(run: DashboardRun): Readonly<Record<string, unknown>> {
    return factsOf(run, this.settings.captures ?? []);
  }

  /** Lets the dashboard show and change the rules in force. */
  #offerRules(detection: LiveDetection | null): void {
    if (this.#rulesOf === null || detection === this.#detection) return;
    this.#detection = detection;
    for (const name of Object.keys(this.#answers)) delete this.#answers[name];
    if (detection === null) return;
    const rules = this.#rulesOf(detection);
    detection.onRules = (text) => rules.note(text, 'file');
    Object.assign(this.#answers, rules.answers);
  }

  async #open(run: DashboardRun, tell: (message: string) => void): Promise<void> {
    const { network, detection } = run;
    this.#run = run;
    const { Dashboard, DashboardError, RunningRules } = await import('@int/dashboard');
    this.#rulesOf = (running) =>
      new RunningRules(
        {
          file: running.file,
          counters: () => running.stage.totals().byRule,
          apply: async (text) => {
            await running.apply(text);
            this.#dashboard?.setFacts(this.#factsOf(this.#run ?? run));
          },
        },
        running.text,
      );
    this.#offerRules(detection);
    const { host, port, isPortChosen, tokenFile, tls, captures: _, ...rest } = this.settings;
    const options = {
      ...rest,
      host,
      network,
      answers: this.#answers,
      facts: this.#factsOf(run),
      ...(this.#control !== null && { control: this.#control }),
      ...(tokenFile !== undefined && { token: await readToken(tokenFile) }),
      ...(tls !== undefined && { tls: { cert: await readPem(tls.cert), key: await readPem(tls.key) } }),
    };
    const last = isPortChosen || port === 0 ? port : port + PORTS - 1;
    for (let next = port; ; next++) {
      try {
        this.#dashboard = await Dashboard.open({ ...options, port: next });
        if (next !== port) tell(`port ${port} is in use: the dashboard is on port ${next}`);
        return;
      } catch (error) {
        if (error instanceof RangeError) throw new CliError(`dashboard: ${error.message}`, EXIT.USAGE, error);
        if (!DashboardError.is(error)) throw error;
        if (error.reason !== 'EADDRINUSE')
          throw new CliError(messageOf(error.message, error.code), exitOf(error.code), error);
        if (next < last) continue;
        this.#failure = error.message;
        tell(`${error.message}: going on without the dashboard`);
        return;
      }
    }
  }
}

const messageOf = (message: string, code: string): string =>
  code === 'ERR_DASHBOARD_TOKEN'
    ? `${message}: --dashboard-token-file FILE, or tokenFile in the configuration`
    : message;

const exitOf = (code: string): number => (code === 'ERR_DASHBOARD_LISTEN' ? EXIT.OPEN : EXIT.USAGE);

/** What the dashboard knows of the rules, of the history and of captures. */
function factsOf({ detection, history }: DashboardRun, captures: readonly string[]): Readonly<Record<string, unknown>> {
  const severities = (detection?.rules.rules ?? []).flatMap(({ name, lifecycle }) =>
    lifecycle == null ? [] : [[name, lifecycle.severity] as const],
  );
  return {
    detects: detection !== null,
    rules: detection !== null,
    severities: Object.fromEntries(severities),
    detector: detection?.options ?? {},
    captures: namedCaptures(captures),
    ...(history !== null && { history: { module: historyModule(), directory: history } }),
  };
}

/** Captures by the names of their files; of files of one name, the folder is told, too. */
function namedCaptures(paths: readonly string[]): readonly { readonly name: string; readonly path: string }[] {
  const names = paths.map((path) => basename(path));
  return paths.map((path, index) => {
    const isAlone = names.filter((name) => name === names[index]).length === 1;
    return { path, name: isAlone ? names[index]! : join(basename(dirname(path)), names[index]!) };
  });
}

/** Address of the module that reads the history, in a form that threads can import. */
function historyModule(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('@int/sink-parquet')).href;
}

async function readToken(path: string): Promise<string> {
  const text = (await readRegular(path, { name: 'token', mostBytes: MOST_TOKEN, tooLargeCode: EXIT.USAGE })).toString();
  const token = text.trim();
  if (!/^[\x21-\x7e]{8,}$/.test(token)) {
    throw new CliError(`${path}: a token is 8 or more characters, without spaces, on one line`, EXIT.USAGE);
  }
  return token;
}

async function readPem(path: string): Promise<string> {
  return (await readRegular(path, { name: 'PEM file', mostBytes: MOST_PEM, tooLargeCode: EXIT.USAGE })).toString();
}
