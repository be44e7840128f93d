import { isIPv6 } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { TelemetryBatch } from '@int/codec';
import {
  DEGRADED,
  type DegradedState,
  DegradedStates,
  type RecordKind,
  type Sink,
  type SinkTotals,
} from '@int/collector';
import { type GuardedServerOptions, HostList } from '@int/collector/http';
import type { EventBatch } from '@int/detect';
import { DeviceProfile, Topology } from '@int/network';
import manifest from '../package.json' with { type: 'json' };
import { controlAnswers } from './control/control-answers.js';
import { ControlNews } from './control/control-news.js';
import type { ControlSource } from './control/control-source.js';
import { DashboardError } from './errors.js';
import { type NetworkData, topologySpecOf } from './network/network-view.js';
import {
  type Geometry,
  geometryOf,
  headerOf,
  NUMBER,
  type RetentionOptions,
  shareRetention,
} from './retention/geometry.js';
import { RetentionWriter } from './retention/retention-writer.js';
import type { PipelineState, ThreadTotals } from './thread/messages.js';
import { threadFile } from './thread/thread-file.js';
import { type Answers, ThreadHandle } from './thread/thread-handle.js';

/** Interval at which the thread is told the collector's counters, in milliseconds. */
const STATE_MS = 1000;

/** What a {@link Dashboard} shows of the network besides its telemetry. */
export interface DashboardNetwork {
  /** Units of the switches' numbers. */
  readonly device?: DeviceProfile;
  /** Names, ports and links. Default: learnt from the telemetry. */
  readonly topology?: Topology;
}

export interface DashboardOptions {
  /** Address to listen on. Default 127.0.0.1. Another one than loopback needs a {@link token}. */
  readonly host?: string;
  /** Port to listen on; 0 lets the system choose. Default 8800. */
  readonly port?: number;
  /** What every request must carry: `Authorization: Bearer TOKEN`, or a session of the login page. Default: none. */
  readonly token?: string;
  /** Further names by which it may be asked for, such as that of a proxy. */
  readonly allowHosts?: readonly string[];
  /** Certificate chain and private key, in PEM. Default: no TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Refuses everything that changes something. Default false. */
  readonly readOnly?: boolean;
  readonly retention?: RetentionOptions;
  readonly network?: DashboardNetwork;
  /** The collector's counters and states, asked for once a second. */
  readonly pipeline?: () => PipelineState;
  /** What the dashboard asks of the program, by name: such as the rules in force. Runs in this thread. */
  readonly answers?: Answers;
  /** A controller, which the dashboard shows and gives orders to. Default: none. */
  readonly control?: ControlSource;
  /** What the dashboard's thread is to know besides: plain data. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Limits on connections, requests, headers and times. Default: see the README. */
  readonly limits?: GuardedServerOptions['limits'];
  /** The code of the thread, `dashboard-thread.js` of this package. Only a bundled program needs to give it. */
  readonly thread?: URL | string;
  /** Folder with the page's files. Only a bundled program needs to give it. */
  readonly page?: string;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens on this port: stop it or choose another port',
  EACCES: 'not permitted: ports below 1024 need privileges, choose a higher one',
  EADDRNOTAVAIL: 'this machine has no such address: use one of its own, or 0.0.0.0 or :: for all',
  ENOTFOUND: 'no such host',
};

const USUAL_PORT = 8800;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/**
 * A web page and a programming interface over what a collector has received in the last minutes. It is a sink of the collector.
 * In the collector's thread it adds up and copies; a thread of its own serves the page.
 *
 * @example
 * const dashboard = await Dashboard.open({ port: 8800 });
 * const collector = new Collector({ sources: [source], sinks: [dashboard] });
 * console.log(dashboard.url);
 */
export class Dashboard implements Sink {
  readonly name = 'dashboard';
  readonly records: readonly RecordKind[] = ['reports', 'events'];
  readonly #writer: RetentionWriter;
  readonly #numbers: Float64Array;
  readonly #thread: ThreadHandle;
  readonly #geometry: Geometry;
  readonly #isTls: boolean;
  readonly #states = new DegradedStates();
  #pipeline: (() => PipelineState) | null;
  readonly #telling: NodeJS.Timeout;
  readonly #news: ControlNews | null;
  /** Whether batches have come since {@link #settle}, and since what they began was completed. */
  #isBusy = false;
  #isOpen = false;

  private constructor(options: DashboardOptions) {
    const { host = '127.0.0.1', port = USUAL_PORT, token, allowHosts = [], tls, limits = {} } = options;
    // Checked here, so that errors are thrown in the caller's thread.
    new HostList(host, allowHosts);
    if (token !== undefined && token.length < 8) {
      throw new DashboardError('ERR_DASHBOARD_TOKEN', 'the token must have 8 characters at least');
    }
    if (token === undefined && !LOOPBACK.test(host)) {
      throw new DashboardError('ERR_DASHBOARD_TOKEN', `on ${host} others can reach the dashboard: give it a token`);
    }
    if (tls !== undefined) checkTls(tls);
    this.#isTls = tls !== undefined;
    this.#geometry = geometryOf(options.retention);
    const shared = shareRetention(this.#geometry);
    this.#numbers = headerOf(shared).numbers;
    this.#writer = new RetentionWriter(shared, (note) => this.#thread.tell({ name: 'slab', note }));
    const setup = {
      web: { host, port, token: token ?? null, allowHosts, tls: tls ?? null, limits },
      isReadOnly: options.readOnly ?? false,
      version: manifest.version,
      shared,
      network: networkData(options.network ?? {}),
      facts: options.facts ?? {},
      control: options.control?.state() ?? null,
      page: options.page ?? null,
    };
    this.#thread = new ThreadHandle(options.thread ?? threadFile(), setup, {
      onSlabs: (slabs) => this.#writer.use(slabs),
      answers: [options.answers ?? {}, options.control === undefined ? {} : controlAnswers(options.control)],
    });
    this.#news =
      options.control === undefined
        ? null
        : new ControlNews(options.control, (news) => this.#thread.tell({ name: 'control', ...news }));
    this.#pipeline = options.pipeline ?? null;
    this.#telling = setInterval(() => {
      this.#settle();
      this.#tellState();
    }, STATE_MS);
    this.#telling.unref();
    const count =
      (...numbers: readonly number[]) =>
      (): number =>
        numbers.reduce((sum, number) => sum + this.#numbers[number]!, 0);
    this.#states.watch(
      DEGRADED.SHEDDING,
      count(NUMBER.BUSY_REPORTS, NUMBER.BUSY_EVENTS),
      (times) => `${times} reports and events not kept whole: the dashboard's thread is behind`,
    );
    this.#states.watch(
      DEGRADED.UNTRACKED,
      count(NUMBER.OTHER_QUEUES, NUMBER.OTHER_LINKS),
      (times) =>
        `${times} hops of queues and links beyond the ${this.#geometry.rows} entities with series: allow more memory, or retain less time`,
    );
    this.#states.watch(
      DEGRADED.REFUSING,
      () => Object.values(this.#thread.totals.refused).reduce((sum, refused) => sum + refused, 0),
      (times) => `${times} connections, requests and messages turned away`,
    );
  }

  /**
   * Starts the thread and listens.
   * @throws DashboardError (rejects) if it cannot listen, others could reach it without a token, or the certificate is none;
   *   RangeError for an option out of range
   */
  static async open(options: DashboardOptions = {}): Promise<Dashboard> {
    const dashboard = new Dashboard(options);
    try {
      await dashboard.#thread.start();
    } catch (error) {
      clearInterval(dashboard.#telling);
      dashboard.#news?.end();
      const { code = '', message } = error as NodeJS.ErrnoException;
      const { host = '127.0.0.1', port = USUAL_PORT } = options;
      throw new DashboardError(
        'ERR_DASHBOARD_LISTEN',
        `cannot open ${host}:${port}: ${REASONS[code] ?? message}`,
        error,
      );
    }
    return dashboard;
  }

  /** Where it listens; for port 0, with the port that the system chose. */
  get address(): { readonly host: string; readonly port: number } {
    return this.#thread.address;
  }

  /** The address of the page. */
  get url(): string {
    const { host, port } = this.address;
    const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
    return `${this.#isTls ? 'https' : 'http'}://${isIPv6(name) ? `[${name}]` : name}:${port}/`;
  }

  write(batch: TelemetryBatch): undefined {
    this.#writer.write(batch);
    this.#isBusy = true;
    return undefined;
  }

  writeEvents(events: EventBatch): undefined {
    this.#writer.writeEvents(events);
    return undefined;
  }

  advance(timeMs: number): void {
    this.#writer.advance(timeMs);
  }

  /** Nothing leaves the process by it, so there are no counts of what was delivered; {@link viewing} has its own. */
  totals(): SinkTotals {
    return {};
  }

  /** Viewers, frames sent to them and skipped, and refusals by code; updated once a second. */
  viewing(): ThreadTotals {
    return this.#thread.totals;
  }

  /** `shedding` while the thread is behind, `untracked` while there are more entities than rows, `refusing`, and `failed`. */
  degraded(): readonly DegradedState[] {
    const { failure } = this.#thread;
    const states = this.#states;
    if (failure === null) states.end(DEGRADED.FAILED);
    else states.begin(DEGRADED.FAILED, `its thread is started again: ${failure.message}`);
    return states.list();
  }

  /** Replaces what is known of the network. */
  setNetwork(network: DashboardNetwork): void {
    this.#thread.tell({ name: 'network', network: networkData(network) });
  }

  /** Replaces what the thread knows besides, see {@link DashboardOptions.facts}. */
  setFacts(facts: Readonly<Record<string, unknown>>): void {
    this.#thread.tell({ name: 'facts', facts });
  }

  /** Replaces where the collector's counters come from. */
  setPipeline(pipeline: () => PipelineState): void {
    this.#pipeline = pipeline;
    this.#tellState();
  }

  /** Closes the server. Answers under way have a few seconds to finish. */
  async close(): Promise<void> {
    clearInterval(this.#telling);
    this.#news?.end();
    this.#writer.finish();
    await this.#thread.close();
  }

  /** Completes what is open when nothing comes any more: at the end of a capture no later report does so. */
  #settle(): void {
    if (this.#isOpen && !this.#isBusy) this.#writer.finish();
    this.#isOpen = this.#isBusy;
    this.#isBusy = false;
  }

  #tellState(): void {
    if (this.#pipeline !== null) this.#thread.tell({ name: 'state', state: this.#pipeline() });
  }
}

const networkData = ({ device = DeviceProfile.NONE, topology = Topology.NONE }: DashboardNetwork): NetworkData => ({
  device: device.spec,
  topology: topologySpecOf(topology),
});

function checkTls(tls: { readonly cert: string; readonly key: string }): void {
  try {
    createSecureContext(tls);
  } catch (error) {
    throw new DashboardError(
      'ERR_DASHBOARD_TLS',
      `the certificate or its key cannot be used: ${(error as Error).message}`,
      error,
    );
  }
}
