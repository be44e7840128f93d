import { isIPv6 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import {
  type Collector,
  type DegradedPart,
  type DetectionStage,
  FlowStage,
  type HealthReport,
  healthOf,
  ReportLossStage,
  type Stage,
  SwitchTotals,
  type SwitchTotalsOptions,
} from '@int/collector';
import { HostList } from '@int/collector/http';
import type { MetricsServer, PipelineMetrics, PipelineMetricsOptions } from '@int/metrics';
import { DeviceProfile } from '@int/network';
import { InvalidArgumentError, Option } from 'commander';
import { given } from '../given.js';
import { CliError, EXIT } from '../io.js';
import { type KnownNetwork, sameUnits } from '../network/known-network.js';

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** An option parser for `HOST:PORT`, `[IPv6]:PORT` or a port alone, on 127.0.0.1. */
export function metricsAddress(text: string): MetricsAddress {
  const match = /^(?:(?:\[([^\]]+)\]|([^:[\]]*)):)?(\d+)$/.exec(text);
  const port = Number(match?.[3]);
  const [, bracketed, plain] = match ?? [];
  if (port > 65_535) throw new InvalidArgumentError(`a port is a number from 0 to 65535, not ${match![3]}.`);
  if (match === null || plain === '' || (bracketed !== undefined && !isIPv6(bracketed))) {
    throw new InvalidArgumentError('Give HOST:PORT, such as 127.0.0.1:9464 (an IPv6 host in brackets).');
  }
  return { host: bracketed ?? plain ?? '127.0.0.1', port };
}

/** An option parser for a host name or address that requests may give; it may be repeated. */
function allowedHost(text: string, previous: readonly string[] = []): string[] {
  try {
    new HostList('localhost', [text]);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
  return [...previous, text];
}

export function metricsOption(): Option {
  return new Option('--metrics <HOST:PORT>', 'serve metrics for Prometheus at /metrics, and /health').argParser(
    metricsAddress,
  );
}

export function metricsHostOption(): Option {
  return new Option(
    '--metrics-allow-host <NAME>',
    "with --metrics: a further name by which the pages may be asked for; repeat for more (the address, localhost, the machine's name)",
  ).argParser(allowedHost);
}

export interface MetricsEndpointOptions extends Pick<PipelineMetricsOptions, 'labels' | 'prefix' | 'names'> {
  readonly allowHosts?: readonly string[];
  /** Units of the switches' numbers. */
  readonly device?: DeviceProfile;
  /** Numbers of rows, which the busiest keys have. */
  readonly rows?: Pick<SwitchTotalsOptions, 'switches' | 'queues' | 'interfaces'> & { readonly reporters?: number };
}

/** What is served: it changes while the server runs. */
interface Served {
  readonly metrics: PipelineMetrics;
  readonly health: () => HealthReport & { readonly detail: unknown };
}

/** A running server, and what it serves now. */
interface Page {
  readonly server: MetricsServer;
  served: Served;
}

/** The pipeline's counters for Prometheus, beside a running collector. */
export class MetricsEndpoint {
  readonly #address: MetricsAddress;
  readonly #options: MetricsEndpointOptions;
  readonly #switches: SwitchTotals;
  readonly #loss: ReportLossStage;
  #page: Page | null = null;

  /**
   * @param before the endpoint so far: counters with as many rows and the same units, and a server with the same names, go on
   * @param loss a stage that counts already
   */
  constructor(
    address: MetricsAddress,
    options: MetricsEndpointOptions = {},
    before: MetricsEndpoint | null = null,
    loss: ReportLossStage | null = null,
  ) {
    const { rows: { reporters, ...rows } = {}, device, allowHosts } = options;
    const { reporters: reportersBefore, ...rowsBefore } = (before === null ? {} : before.#options.rows) ?? {};
    this.#address = address;
    this.#options = options;
    this.#switches =
      before !== null &&
      sameUnits(device ?? DeviceProfile.NONE, before.#options.device ?? DeviceProfile.NONE) &&
      isDeepStrictEqual(rows, rowsBefore)
        ? before.#switches
        : new SwitchTotals({ ...rows, ...given({ device }) });
    const known = before === null ? loss : before.#loss;
    this.#loss =
      known !== null && reporters === reportersBefore
        ? known
        : new ReportLossStage(reporters === undefined ? {} : { reporters });
    if (before?.isAt(address) && isDeepStrictEqual(allowHosts, before.#options.allowHosts)) {
      this.#page = before.#page;
    }
  }

  get stages(): readonly Stage[] {
    return [this.#switches, this.#loss];
  }

  /** The stage that counts lost reports. */
  get loss(): ReportLossStage {
    return this.#loss;
  }

  /** Whether it is, or is to be, on this address. */
  isAt(address: MetricsAddress): boolean {
    return this.#address.port === address.port && this.#address.host === address.host;
  }

  /** An endpoint on the same address for a network with other names or units, which takes over its server and what it can count on. */
  of({ device, topology: names }: KnownNetwork): MetricsEndpoint {
    return new MetricsEndpoint(this.#address, { ...this.#options, names, device }, this);
  }

  /** Whether two endpoints are one server. */
  shares(other: MetricsEndpoint): boolean {
    return this.#page !== null && this.#page === other.#page;
  }

  /** Whether it needs an address that another one has, which must close first. */
  follows(other: MetricsEndpoint): boolean {
    return this.#page === null && this.#address.port !== 0 && this.#address.port === other.#address.port;
  }

  /**
   * Starts the server, or gives a running one other parts to serve. `/health` is 503 while a part fails.
   * @param others further stages of the collector; those with metrics are exported
   * @param degraded returns the present degraded states
   * @returns the page's address
   * @throws CliError if the server cannot listen
   */
  async open(
    collector: Collector,
    detection: DetectionStage | null,
    others: readonly Stage[],
    degraded: () => readonly DegradedPart[],
  ): Promise<string> {
    const { MetricsServer, MetricsServerError, PipelineMetrics } = await import('@int/metrics');
    const flows = others.find((stage) => stage instanceof FlowStage);
    const { allowHosts, rows: _, device: __, ...options } = this.#options;
    const metrics = new PipelineMetrics({
      ...options,
      collector,
      degraded,
      switches: this.#switches,
      loss: this.#loss,
      ...given({ detection: detection ?? undefined, flows }),
    });
    const health: Served['health'] = () => ({
      ...healthOf(degraded()),
      detail: { ...collector.totals(), page: this.#page?.server.totals() },
    });
    if (this.#page !== null) this.#page.served = { metrics, health };
    else {
      let served: Served = { metrics, health };
      try {
        const server = await MetricsServer.listen({
          ...this.#address,
          metrics: { content: () => served.metrics.content() },
          health: () => served.health(),
          ...given({ allowHosts }),
        });
        this.#page = {
          server,
          get served() {
            return served;
          },
          set served(next) {
            served = next;
          },
        };
      } catch (error) {
        if (MetricsServerError.is(error)) throw new CliError(error.message, EXIT.OPEN, error);
        throw error;
      }
    }
    const { host, port } = this.#page.server.address;
    return `http://${isIPv6(host) ? `[${host}]` : host}:${port}/metrics`;
  }

  degraded(): readonly DegradedPart[] {
    return this.#page?.server.degraded() ?? [];
  }

  async close(): Promise<void> {
    await this.#page?.server.close();
  }
}
