import { isIPv6 } from 'node:net';
import {
  type Collector,
  type DegradedPart,
  type DetectionStage,
  FlowStage,
  healthOf,
  ReportLossStage,
  type Stage,
  SwitchTotals,
  type SwitchTotalsOptions,
} from '@int/collector';
import { HostList } from '@int/collector/http';
import type { MetricsServer, PipelineMetricsOptions } from '@int/metrics';
import type { DeviceProfile } from '@int/network';
import { InvalidArgumentError, Option } from 'commander';
import { given } from '../given.js';
import { CliError, EXIT } from '../io.js';

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

/** The pipeline's counters for Prometheus, beside a running collector. */
export class MetricsEndpoint {
  readonly #address: MetricsAddress;
  readonly #switches: SwitchTotals;
  readonly #loss: ReportLossStage;
  readonly #options: Omit<MetricsEndpointOptions, 'rows' | 'device'>;
  #server: MetricsServer | null = null;

  constructor(
    address: MetricsAddress,
    { rows: { reporters, ...rows } = {}, device, ...options }: MetricsEndpointOptions = {},
  ) {
    this.#address = address;
    this.#switches = new SwitchTotals({ ...rows, ...given({ device }) });
    this.#loss = new ReportLossStage(reporters === undefined ? {} : { reporters });
    this.#options = options;
  }

  get stages(): readonly Stage[] {
    return [this.#switches, this.#loss];
  }

  /**
   * Starts the server. `/health` is 503 while a part fails.
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
    const { allowHosts, ...options } = this.#options;
    const metrics = new PipelineMetrics({
      ...options,
      collector,
      degraded,
      switches: this.#switches,
      loss: this.#loss,
      ...given({ detection: detection ?? undefined, flows }),
    });
    const health = () => ({ ...healthOf(degraded()), detail: { ...collector.totals(), page: this.#server?.totals() } });
    try {
      this.#server = await MetricsServer.listen({ ...this.#address, metrics, health, ...given({ allowHosts }) });
    } catch (error) {
      if (MetricsServerError.is(error)) throw new CliError(error.message, EXIT.OPEN, error);
      throw error;
    }
    const { host, port } = this.#server.address;
    return `http://${isIPv6(host) ? `[${host}]` : host}:${port}/metrics`;
  }

  degraded(): readonly DegradedPart[] {
    return this.#server?.degraded() ?? [];
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}
