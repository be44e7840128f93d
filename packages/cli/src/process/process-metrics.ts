import { DEGRADED, DegradedStates, healthOf } from '@int/collector';
import type { CountMetric, Health, MetricsServer } from '@int/metrics';
import type { Processor } from '@int/stream-kafka';
import { CliError, EXIT } from '../io.js';
import type { MetricsAddress } from '../output/metrics-endpoint.js';

const counter = (name: string, help: string): CountMetric => ({ type: 'counter', name: `${name}_total`, help });
const gauge = (name: string, help: string): CountMetric => ({ type: 'gauge', name, help });

const METRICS = {
  reports: counter('reports', 'Reports taken and committed.'),
  windows: counter('windows', 'Windows given out, each time that they were.'),
  incomplete: counter('windows_incomplete', 'Windows given out of which something may be missing.'),
  events: counter('immediate_events', 'Immediate events given out.'),
  late: counter('reports_late', 'Reports that came too late for the window of their flow.'),
  networkLate: counter('hops_late', 'Hop records that came too late for the window of their switch.'),
  corrected: counter('reports_corrected', 'Reports whose window was given out again with them.'),
  untracked: counter('reports_untracked', 'Reports of flows or windows for which there was no room.'),
  repeated: counter('messages_repeated', 'Messages dropped because they were there before.'),
  bad: counter('messages_bad', 'Messages that could not be read.'),
  unknownSwitch: counter('reports_unknown_switch', 'Reports dropped because they name a switch that there is not.'),
  lost: counter('messages_lost', 'Messages that the brokers had deleted before they were read.'),
  restarts: counter('partition_restarts', 'Times a partition was begun again after an error.'),
  lag: gauge('lag_messages', 'Messages that are in the partitions and not committed.'),
  behind: gauge('watermark_behind_seconds', 'How far the time of windows is behind the furthest that a sink has told.'),
} as const;

/**
 * Serves the counts of a processor. `/health` is 503 while it waits for a silent sink, or continues without it.
 * @param allowHosts further host names that requests may give
 * @throws CliError if the server cannot listen
 */
export async function serveProcessMetrics(
  processor: Processor,
  address: MetricsAddress,
  allowHosts: readonly string[] = [],
): Promise<MetricsServer> {
  const { CountMetrics, MetricsServer, MetricsServerError } = await import('@int/metrics');
  const metrics = new CountMetrics({
    prefix: 'int_process',
    metrics: METRICS,
    read: () => {
      const totals = processor.totals();
      return { ...totals, behind: totals.behindMs / 1000 };
    },
  });
  const states = new DegradedStates();
  let server: MetricsServer | null = null;
  const health = (): Health => {
    const trouble = processor.health();
    if (trouble === null) states.end(DEGRADED.OUTAGE);
    else states.begin(DEGRADED.OUTAGE, trouble);
    const own = states.list().map((state) => ({ where: 'processor', ...state }));
    return { ...healthOf([...own, ...(server?.degraded() ?? [])]), detail: { ...processor.totals(), trouble } };
  };
  try {
    server = await MetricsServer.listen({ ...address, metrics, health, allowHosts });
    return server;
  } catch (error) {
    if (MetricsServerError.is(error)) throw new CliError(error.message, EXIT.OPEN, error);
    throw error;
  }
}
