// The sender of the accuracy study: another process, so that nothing of the monitor slows it down or is slowed by it.
import { createSocket } from 'node:dgram';
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { Random } from '@int/random';
import { Datagram } from './study/datagrams.js';
import { Truth } from './study/truth.js';
import { ExponentialValues } from './study/values.js';
import { METRICS, type SenderOrder, SWITCHES } from './study/workload.js';

/** Datagrams that may be on their way into the kernel at once: each has bytes of its own until it is there. */
const IN_FLIGHT = 64;

async function send(order: SenderOrder): Promise<void> {
  const socket = createSocket({ type: 'udp4', sendBufferSize: 8 << 20 });
  await new Promise<void>((resolve) => socket.connect(order.port, order.host, resolve));
  const random = new Random(order.seed);
  const latency = new ExponentialValues(random, METRICS.hopLatency.mean, METRICS.hopLatency.limit);
  const queue = new ExponentialValues(random, METRICS.queueOccupancy.mean, METRICS.queueOccupancy.limit);
  const utilization = new ExponentialValues(random, METRICS.egressUtilization.mean, METRICS.egressUtilization.limit);
  const truth = new Truth();
  const free = Array.from({ length: IN_FLIGHT }, () => new Datagram(order.reportsPerDatagram));
  let failure: Error | null = null;

  const fill = (datagram: Datagram): void => {
    for (let report = 0; report < datagram.reports; report++) {
      datagram.setFlow(report, random.integer(order.flows));
      let sum = 0;
      for (let hop = 0; hop < SWITCHES.length; hop++) {
        const time = latency.next();
        const cells = queue.next();
        const load = utilization.next();
        datagram.setValue(report, hop, 0, time);
        datagram.setValue(report, hop, 1, cells);
        datagram.setValue(report, hop, 2, load);
        sum += time;
        if (cells > order.threshold) truth.events++;
        if (hop === 0) {
          truth.queue[cells]!++;
          truth.utilization[load]!++;
        }
      }
      truth.endToEnd[sum]!++;
    }
    truth.reports += datagram.reports;
    truth.datagrams++;
  };

  const start = performance.now();
  let sent = 0;
  while (sent < order.datagrams && failure === null) {
    const due = order.rate === 0 ? order.datagrams : Math.floor(((performance.now() - start) / 1000) * order.rate);
    while (sent < Math.min(due, order.datagrams) && free.length > 0) {
      const datagram = free.pop()!;
      fill(datagram);
      sent++;
      socket.send(datagram.bytes, (error) => {
        failure ??= error;
        free.push(datagram);
      });
    }
    if (free.length === 0 || order.rate === 0) await breathe();
    else await sleep(1);
  }
  while (free.length < IN_FLIGHT) await breathe();
  const seconds = (performance.now() - start) / 1000;
  socket.close();
  if (failure !== null) throw failure;
  await new Promise((resolve) => process.send!(truth.finish(seconds), undefined, undefined, resolve));
}

process.once('message', (order: SenderOrder) => {
  send(order).then(
    () => process.disconnect(),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
