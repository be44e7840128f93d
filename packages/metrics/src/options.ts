import type { Collector, DegradedPart, DetectionStage, FlowStage, ReportLossStage, SwitchTotals } from '@int/collector';
import type { Registry, RegistryContentType } from 'prom-client';

/** What is exported: the parts of a pipeline, as far as there are any. Nothing is written to them. */
export interface PipelineParts {
  /** Frames received, decoded and dropped, by reason; what became of records in each sink; what the parts suffer from. */
  readonly collector?: Pick<Collector, 'totals'> & Partial<Pick<Collector, 'degraded'>>;
  /** What the process suffers from. Default: what its collector does. */
  readonly degraded?: () => readonly DegradedPart[];
  /** Hops, hop latency, queues and egress interfaces of each switch. */
  readonly switches?: Pick<SwitchTotals, 'columns'>;
  /** Events by rule. */
  readonly detection?: Pick<DetectionStage, 'totals'>;
  /** Flows in the cache, and what left it. */
  readonly flows?: { totals(): ReturnType<FlowStage['totals']>; readonly cache: { readonly size: number } };
  /** Report packets that did not arrive. */
  readonly loss?: Pick<ReportLossStage, 'columns' | 'totals'>;
}

export interface PipelineMetricsOptions extends PipelineParts {
  /** Put in front of every name, with an underscore. Default `int`. */
  readonly prefix?: string;
  /** Seconds in a unit of hop latency. Default 1e-9: switches count nanoseconds. */
  readonly latencyUnit?: number;
  /** Labels of every sample, such as the site. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Also memory, CPU and event loop of this process, as prom-client measures them. Default true. */
  readonly process?: boolean;
  /**
   * Where to register the metrics, for a program that exports others as well. Default: a registry of its own. What else is in
   * it is on the page, too.
   */
  readonly registry?: Registry<RegistryContentType>;
}
