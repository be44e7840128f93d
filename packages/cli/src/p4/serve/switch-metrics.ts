/** The counters of switches for Prometheus. */
import type { CountMetric, Health, LabelledCount, MetricsServer } from '@int/metrics';
import type { DeviceStatistics } from '@int/p4runtime';
import type { ForwardingLoop, QueueCounts } from '@int/p4switch';
import { CliError, EXIT } from '../../io.js';
import type { MetricsAddress } from '../../output/metrics-endpoint.js';
import type { ControlServer } from './control-server.js';
import type { ServedSwitch } from './served-switch.js';

const counter = (name: string, help: string): CountMetric => ({ type: 'counter', name: `${name}_total`, help });
const gauge = (name: string, help: string): CountMetric => ({ type: 'gauge', name, help });

const METRICS = {
  received: counter('received_packets', 'Packets that came into a switch, those of the control plane included.'),
  transmitted: counter('transmitted_packets', 'Packets that left the pipeline of a switch.'),
  waiting: gauge('waiting_packets', 'Packets that wait in the queues of a switch.'),
  dropped: counter('dropped_packets', 'Packets that ended in a switch, by reason.'),
  clones: counter('cloned_packets', 'Clones and copies that a switch has made, by kind.'),
  recirculated: counter('recirculated_packets', 'Packets that went back to the parser.'),
  digests: counter('digests', 'Digests that a program has made.'),
  packetsIn: counter('controller_in_packets', 'Packets to the control plane.'),
  packetsOut: counter('controller_out_packets', 'Packets of the control plane.'),
  pipelines: counter('pipelines', 'Pipelines that were put to work.'),
  portUp: gauge('port_up', 'Whether a port carries frames.'),
  portOutages: counter('port_outages', 'Times that a port went down.'),
  portReceived: counter('port_received_packets', 'Frames that came in by a port.'),
  portReceivedBytes: counter('port_received_bytes', 'Bytes that came in by a port.'),
  portSent: counter('port_sent_packets', 'Frames that left by a port.'),
  portSentBytes: counter('port_sent_bytes', 'Bytes that left by a port.'),
  portDropped: counter('port_dropped_packets', 'Frames that did not come in or leave by a port, by reason.'),
  queueReceived: counter('port_queue_received_packets', 'Frames that came in by a queue of an interface.'),
  queueReceivedBytes: counter('port_queue_received_bytes', 'Bytes that came in by a queue of an interface.'),
  queueSent: counter('port_queue_sent_packets', 'Frames that left by a queue of an interface.'),
  queueSentBytes: counter('port_queue_sent_bytes', 'Bytes that left by a queue of an interface.'),
  queueDepth: gauge('port_queue_packets', 'Packets that wait for a port.'),
  controlStreams: gauge('control_streams', 'Open streams of controllers.'),
  controlRefused: counter('control_refused_clients', 'Controllers that were turned away, by reason.'),
  controlUpdates: counter('control_updates', 'Updates of controllers, refused ones included.'),
  controlFailed: counter('control_failed_updates', 'Updates of controllers that were refused.'),
  controlDropped: counter('control_dropped_messages', 'Packets from and to controllers that were dropped, by reason.'),
  controlFaults: counter('control_faults', 'Faults of the P4Runtime server, which answers them with INTERNAL.'),
  busySeconds: counter('busy_seconds', 'Time in which packets were forwarded.'),
  longestPause: gauge('longest_pause_seconds', 'Longest time between two looks at the ports while there was work.'),
} as const;

/** The values of all metrics. */
export function readSwitchMetrics(
  switches: readonly ServedSwitch[],
  loop: ForwardingLoop,
  control: ControlServer | null,
) {
  const all = switches.map((each) => ({ each, name: each.name, counts: each.core.counts() }));
  const bySwitch = (value: (counts: (typeof all)[number]['counts']) => number): LabelledCount[] =>
    all.map(({ name, counts }) => ({ labels: { switch: name }, value: value(counts) }));
  const ports = all.flatMap(({ each, name }) =>
    each.core.ports.map(({ number, port }) => ({
      labels: { switch: name, port: String(number) },
      port,
      counts: port.counts(),
      depth: each.core.queue(number)?.depth ?? 0,
    })),
  );
  const byPort = (value: (port: (typeof ports)[number]) => number): LabelledCount[] =>
    ports.map((port) => ({ labels: port.labels, value: value(port) }));
  const byQueue = (value: (queue: QueueCounts) => number): LabelledCount[] =>
    ports.flatMap(({ labels, counts: { queues } }) =>
      queues.map((each) => ({ labels: { ...labels, queue: String(each.queue) }, value: value(each) })),
    );
  const counts = control?.counts();
  const devices = switches.flatMap(({ name, deviceId }) => {
    const of = control?.countsOf(deviceId);
    return of === undefined ? [] : [{ labels: { switch: name }, of }];
  });
  const controlled = (value: (of: DeviceStatistics) => number): LabelledCount[] =>
    devices.map(({ labels, of }) => ({ labels, value: value(of) }));
  return {
    received: bySwitch(({ received }) => received),
    transmitted: bySwitch(({ transmitted }) => transmitted),
    waiting: bySwitch(({ waiting }) => waiting),
    dropped: all.flatMap(({ name, counts }) =>
      Object.entries(counts.dropped).map(([reason, value]) => ({ labels: { switch: name, reason }, value })),
    ),
    clones: all.flatMap(({ name, counts }) =>
      (['ingressClones', 'egressClones', 'multicastCopies'] as const).map((kind) => ({
        labels: { switch: name, kind },
        value: counts[kind],
      })),
    ),
    recirculated: bySwitch(({ recirculated, resubmitted }) => recirculated + resubmitted),
    digests: bySwitch(({ digests }) => digests),
    packetsIn: bySwitch(({ packetsIn }) => packetsIn),
    packetsOut: bySwitch(({ packetsOut }) => packetsOut),
    pipelines: bySwitch(({ pipelines }) => pipelines),
    portUp: byPort(({ port }) => Number(port.isUp)),
    portOutages: byPort(({ counts }) => counts.outages),
    portReceived: byPort(({ counts }) => counts.received),
    portReceivedBytes: byPort(({ counts }) => counts.receivedBytes),
    portSent: byPort(({ counts }) => counts.sent),
    portSentBytes: byPort(({ counts }) => counts.sentBytes),
    portDropped: ports.flatMap(({ labels, counts }) =>
      Object.entries(counts.dropped).map(([reason, value]) => ({ labels: { ...labels, reason }, value })),
    ),
    queueReceived: byQueue(({ received }) => received),
    queueReceivedBytes: byQueue(({ receivedBytes }) => receivedBytes),
    queueSent: byQueue(({ sent }) => sent),
    queueSentBytes: byQueue(({ sentBytes }) => sentBytes),
    queueDepth: byPort(({ depth }) => depth),
    controlStreams: counts?.streams ?? 0,
    controlRefused: Object.entries(counts?.refused ?? {}).map(([reason, value]) => ({ labels: { reason }, value })),
    controlUpdates: controlled(({ updates }) => updates),
    controlFailed: controlled(({ failedUpdates }) => failedUpdates),
    controlDropped: devices.flatMap(({ labels, of }) =>
      Object.entries(of.dropped).map(([reason, value]) => ({ labels: { ...labels, reason }, value })),
    ),
    controlFaults: counts?.faults ?? 0,
    busySeconds: loop.busyMs / 1000,
    longestPause: loop.longestPauseMs / 1000,
  };
}

/**
 * Serves the counters of switches. `/health` is 503 while a switch has no pipeline or a port is down.
 * @param control the P4Runtime server, if there is one
 * @param allowHosts further host names that requests may give
 * @throws CliError (rejects) if the server cannot listen
 */
export async function serveSwitchMetrics(
  switches: readonly ServedSwitch[],
  loop: ForwardingLoop,
  address: MetricsAddress,
  control: ControlServer | null,
  allowHosts: readonly string[] = [],
): Promise<MetricsServer> {
  const { CountMetrics, MetricsServer, MetricsServerError } = await import('@int/metrics');
  const metrics = new CountMetrics({
    prefix: 'int_p4',
    metrics: METRICS,
    read: () => readSwitchMetrics(switches, loop, control),
  });
  const health = (): Health => {
    const problems = switches.flatMap(({ name, core }) => [
      ...(core.machine === null ? [`${name} has no pipeline`] : []),
      ...core.ports
        .filter(({ port }) => !port.isUp)
        .map(({ number, port }) => `${name}: port ${number}, ${port.name}, is down`),
    ]);
    return { healthy: problems.length === 0, detail: { problems } };
  };
  try {
    return await MetricsServer.listen({ ...address, metrics, health, allowHosts });
  } catch (error) {
    if (MetricsServerError.is(error)) throw new CliError(error.message, EXIT.OPEN, error);
    throw error;
  }
}
