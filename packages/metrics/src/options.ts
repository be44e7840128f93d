import type { Collector, DegradedPart, DetectionStage, FlowStage, ReportLossStage, SwitchTotals } from '@int/collector';
import type { Registry, RegistryContentType } from 'prom-client';

/** Names of switches and of their ports: a `Topology` of @int/network, or anything alike. `null`: nobody named it. */
export interface SwitchNames {
  switchName(id: number): string | null;
  portName(switchId: number, port: number): string | null;
}

/** The parts of a pipeline to export; all are optional. They are only read. */
export interface PipelineParts {
  /**
   * Frames received, decoded and dropped, by reason; the fates of records in each sink; the degraded states of the
   * parts.
   */
  readonly collector?: Pick<Collector, 'totals'> & Partial<Pick<Collector, 'degraded'>>;
  /** The degraded states of the process. Default: those of its collector. */
  readonly degraded?: () => readonly DegradedPart[];
  /** Hops, hop latency, queues and egress interfaces of each switch, in the units of its `device`. */
  readonly switches?: Pick<SwitchTotals, 'columns' | 'device'>;
  /** Events by rule. */
  readonly detection?: Pick<DetectionStage, 'totals'>;
  /** Flows in the cache, and flows that left it. */
  readonly flows?: { totals(): ReturnType<FlowStage['totals']>; readonly cache: { readonly size: number } };
  /** Report packets that did not arrive. */
  readonly loss?: Pick<ReportLossStage, 'columns' | 'totals'>;
  /**
   * Names for the label `switch_name` beside `switch`, `interface_name` beside `interface`, and `node_name` beside `node`. An
   * id without a name has no such label. Default: none has.
   */
  readonly names?: SwitchNames;
}

export interface PipelineMetricsOptions extends PipelineParts {
  /** Prefix of every name, followed by an underscore. Default `int`. */
  readonly prefix?: string;
  /** Labels of every sample, such as the site. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Whether to export memory, CPU and event loop of this process too, as prom-client measures them. Default true. */
  readonly process?: boolean;
  /**
   * The registry for the metrics, for a program that exports others as well. The page also shows the registry's other
   * metrics. Default: a registry of its own.
   */
  readonly registry?: Registry<RegistryContentType>;
}
