import { isIPv6 } from 'node:net';
import {
  type Collector,
  type DetectionStage,
  FlowStage,
  ReportLossStage,
  type Stage,
  SwitchTotals,
} from '@int/collector';
import type { MetricsServer, PipelineMetricsOptions } from '@int/sink-prometheus';
import { InvalidArgumentError } from 'commander';
import { CliError, EXIT } from '../io.js';

/** Where metrics are served. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** An option parser for `HOST:PORT`, `[IPv6]:PORT` or a port alone, which is of 127.0.0.1. */
export function metricsAddress(text: string): MetricsAddress {
  const match = /^(?:(?:\[([^\]]+)\]|([^:[\]]*)):)?(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const [, bracketed, plain] = match ?? [];
  if (!(port <= 65_535) || plain === '' || (bracketed !== undefined && !isIPv6(bracketed))) {
    throw new InvalidArgumentError('Give HOST:PORT, such as 127.0.0.1:9464 (an IPv6 host in brackets).');
  }
  return { host: bracketed ?? plain ?? '127.0.0.1', port };
}

/** The pipeline's counters for Prometheus, beside a running collector. */
export class MetricsEndpoint {
  readonly #address: MetricsAddress;
  readonly #switches = new SwitchTotals();
  readonly #loss = new ReportLossStage();
  readonly #options: Pick<PipelineMetricsOptions, 'labels' | 'prefix'>;
  #server: MetricsServer | null = null;

  constructor(address: MetricsAddress, options: Pick<PipelineMetricsOptions, 'labels' | 'prefix'> = {}) {
    this.#address = address;
    this.#options = options;
  }

  /** To be given to the collector. */
  get stages(): readonly Stage[] {
    return [this.#switches, this.#loss];
  }

  /**
   * Serves from now on. `/health` is 503 as long as a sink is not well.
   * @param others stages of the collector, of which those that have metrics are told of
   * @returns the page's address
   * @throws CliError if that cannot be
   */
  async open(collector: Collector, detection: DetectionStage | null, others: readonly Stage[] = []): Promise<string> {
    const { MetricsServer, MetricsServerError, PipelineMetrics } = await import('@int/sink-prometheus');
    const flows = others.find((stage) => stage instanceof FlowStage);
    const metrics = new PipelineMetrics({
      ...this.#options,
      collector,
      switches: this.#switches,
      loss: this.#loss,
      ...(detection !== null && { detection }),
      ...(flows !== undefined && { flows }),
    });
    const health = (): { healthy: boolean; detail: unknown } => {
      const trouble = collector.trouble();
      return { healthy: trouble.length === 0, detail: { ...collector.totals(), trouble } };
    };
    try {
      this.#server = await MetricsServer.listen({ ...this.#address, metrics, health });
    } catch (error) {
      if (MetricsServerError.is(error)) throw new CliError(error.message, EXIT.OPEN, error);
      throw error;
    }
    const { host, port } = this.#server.address;
    return `http://${isIPv6(host) ? `[${host}]` : host}:${port}/metrics`;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}
