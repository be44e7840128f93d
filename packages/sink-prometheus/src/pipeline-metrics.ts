import type { ReporterLoss, RuleFigures, SwitchCounters, SwitchTotalsSnapshot } from '@int/collector';
import { collectDefaultMetrics, Registry, type RegistryContentType } from 'prom-client';
import type { PipelineMetricsOptions, PipelineParts } from './options.js';
import { histogramSamples, registerSnapshot, type Sample } from './snapshot-metric.js';

/** A name as Prometheus takes it for metrics. */
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

/** The label of what has no switch of its own. */
const OTHER = 'other';

type Declare = (type: 'counter' | 'gauge', name: string, help: string, samples: () => readonly Sample[]) => void;

const one = (value: number, labels: Sample['labels'] = {}): Sample => ({ labels, value });

/**
 * The metrics of a pipeline, in the exposition format of Prometheus.
 *
 * Cardinality is bounded by the stages: per switch, queue and egress interface, as many as `SwitchTotals` has room for; what
 * has none is the switch `other`. Nothing is exported per flow.
 *
 * @example
 * const metrics = new PipelineMetrics({ collector, switches, detection: stage });
 * const server = await MetricsServer.listen({ port: 9464, metrics });
 */
export class PipelineMetrics {
  readonly registry: Registry<RegistryContentType>;

  /** @throws RangeError for a prefix or unit that makes no sense; Error if the registry has such a metric already */
  constructor(options: PipelineMetricsOptions) {
    const { prefix = 'int', latencyUnit = 1e-9, labels } = options;
    if (!NAME.test(prefix)) throw new RangeError(`prefix must be a metric's name, not "${prefix}"`);
    if (!(latencyUnit > 0 && latencyUnit <= 1))
      throw new RangeError(`latencyUnit must be above 0 and at most 1 second`);
    const registry: Registry<RegistryContentType> = options.registry ?? new Registry();
    this.registry = registry;
    if (labels !== undefined) registry.setDefaultLabels({ ...labels });
    const declare: Declare = (type, name, help, samples) =>
      registerSnapshot(registry, type, `${prefix}_${name}`, help, samples);
    declareFrames(declare, options.collector);
    declareSwitches(registry, declare, options.switches, prefix, latencyUnit);
    declareDetection(declare, options.detection);
    declareFlows(declare, options.flows);
    declareLoss(declare, options.loss);
    if (options.process !== false) collectDefaultMetrics({ register: registry });
  }

  /** What a scrape gets. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  /** Of {@link text}. */
  get contentType(): string {
    return this.registry.contentType;
  }
}

function declareFrames(declare: Declare, collector: PipelineParts['collector']): void {
  if (collector === undefined) return;
  declare('counter', 'frames_received_total', 'Frames (datagrams, packets) that reached the collector.', () => [
    one(collector.totals().received),
  ]);
  declare('counter', 'frames_decoded_total', 'Frames in which nothing was wrong.', () => [
    one(collector.totals().decoded),
  ]);
  declare('counter', 'reports_total', 'Individual reports and INT packets decoded.', () => [
    one(collector.totals().reports),
  ]);
  declare('counter', 'frames_dropped_total', 'Frames that were not decoded, by reason.', () =>
    Object.entries(collector.totals().dropped).map(([reason, value]) => one(value, { reason })),
  );
  declare('counter', 'frame_errors_total', 'Frames that were not decoded, by the decoder code.', () =>
    Object.entries(collector.totals().errors).map(([code, value]) => one(value, { code })),
  );
  declare('counter', 'kernel_dropped_total', 'Frames that the kernel discarded before the collector saw them.', () => {
    const { kernelDropped } = collector.totals();
    return kernelDropped === null ? [] : [one(kernelDropped)];
  });
}

function declareSwitches(
  registry: Registry<RegistryContentType>,
  declare: Declare,
  switches: PipelineParts['switches'],
  prefix: string,
  latencyUnit: number,
): void {
  if (switches === undefined) return;
  const each = (read: (counters: SwitchCounters) => number): readonly Sample[] => {
    const { switches: known, other } = switches.snapshot();
    return [...known, other].map((counters) => one(read(counters), { switch: counters.nodeId ?? OTHER }));
  };
  declare('counter', 'switch_hops_total', 'Times that a switch was a hop of a report.', () => each(({ hops }) => hops));
  declare('counter', 'switch_drop_reports_total', 'Reports of a switch about packets that it dropped.', () =>
    each(({ dropReports }) => dropReports),
  );
  const histogram = (
    name: string,
    help: string,
    unit: number,
    of: 'hopLatency' | 'queueOccupancy',
    bounds: (snapshot: SwitchTotalsSnapshot) => readonly number[],
  ): void => {
    const full = `${prefix}_${name}`;
    registerSnapshot(registry, 'histogram', full, help, () => {
      const snapshot = switches.snapshot();
      // Twelve digits: 2.5e-6, not what 2500 times 1e-9 is in binary.
      const inUnit = bounds(snapshot).map((bound) => Number((bound * unit).toPrecision(12)));
      return [...snapshot.switches, snapshot.other].flatMap((counters) =>
        histogramSamples(
          full,
          { switch: counters.nodeId ?? OTHER },
          inUnit,
          counters[of].buckets,
          counters[of].sum * unit,
        ),
      );
    });
  };
  histogram(
    'hop_latency_seconds',
    'Time that packets took through a switch.',
    latencyUnit,
    'hopLatency',
    ({ latencyBounds }) => latencyBounds,
  );
  histogram(
    'hop_queue_occupancy',
    "Queue occupancy that packets met in a switch, in the device's unit.",
    1,
    'queueOccupancy',
    ({ occupancyBounds }) => occupancyBounds,
  );
  declare('gauge', 'queue_occupancy', "Occupancy of a queue as last reported, in the device's unit.", () =>
    switches
      .snapshot()
      .queues.map(({ nodeId, queueId, occupancy }) => one(occupancy, { switch: nodeId, queue: queueId })),
  );
  declare(
    'gauge',
    'egress_utilization',
    "Utilization of an egress interface as last reported, in the device's unit.",
    () =>
      switches
        .snapshot()
        .interfaces.map(({ nodeId, egressInterface, utilization }) =>
          one(utilization, { switch: nodeId, interface: egressInterface }),
        ),
  );
  declare('counter', 'gauges_refused_total', 'Values of queues and interfaces for which there was no room.', () => {
    const { refused } = switches.snapshot();
    return [one(refused.queues, { of: 'queue' }), one(refused.interfaces, { of: 'interface' })];
  });
}

function declareDetection(declare: Declare, detection: PipelineParts['detection']): void {
  if (detection === undefined) return;
  /** The figures of each rule; reports that no rule matched are of the rule `default`, as in the rules file. */
  const byRule = (read: (figures: RuleFigures) => number): readonly Sample[] => {
    const { byRule: rules, byDefault } = detection.totals();
    return [...rules, ['default', byDefault] as const].map(([rule, figures]) => one(read(figures), { rule }));
  };
  declare('counter', 'detection_reports_total', 'Reports that a rule looked at.', () =>
    byRule(({ reports }) => reports),
  );
  declare('counter', 'events_total', 'Events found, by rule.', () => byRule(({ events }) => events));
  declare('counter', 'detection_survivors_total', 'Reports with at least one event.', () =>
    byRule(({ survivors }) => survivors),
  );
}

function declareFlows(declare: Declare, flows: PipelineParts['flows']): void {
  if (flows === undefined) return;
  declare('gauge', 'flows', 'Flows in the cache.', () => [one(flows.cache.size)]);
  declare('counter', 'flow_cache_total', "The flow cache's counters, by their names.", () =>
    Object.entries(flows.totals()).map(([counter, value]) => one(value, { counter })),
  );
}

function declareLoss(declare: Declare, loss: PipelineParts['loss']): void {
  if (loss === undefined) return;
  const each = (read: (reporter: ReporterLoss) => number): readonly Sample[] =>
    loss.reporters().map((reporter) => one(read(reporter), { node: reporter.nodeId, hw: reporter.hwId }));
  declare(
    'counter',
    'report_packets_lost_total',
    'Report packets that never arrived, by gaps in sequence numbers.',
    () => each(({ lost }) => lost),
  );
  declare('gauge', 'report_packets_missing', 'Report packets not seen yet that may still come.', () =>
    each(({ missing }) => missing),
  );
  declare('counter', 'report_packets_reordered_total', 'Report packets that came behind a later one.', () =>
    each(({ reordered }) => reordered),
  );
  declare('counter', 'report_packets_duplicate_total', 'Report packets that came twice.', () =>
    each(({ duplicates }) => duplicates),
  );
  declare('counter', 'report_packets_late_total', 'Report packets that came after they had been counted as lost.', () =>
    each(({ late }) => late),
  );
  declare('counter', 'reporter_restarts_total', 'Times that a reporter began to count anew.', () =>
    each(({ restarts }) => restarts),
  );
  declare('counter', 'report_packets_untracked_total', 'Report packets of reporters that are not followed.', () => [
    one(loss.totals().untracked),
  ]);
}
