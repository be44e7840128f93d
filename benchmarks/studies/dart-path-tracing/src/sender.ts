// The switches: another process, so that nothing but UDP connects them with the collector.
import { setTimeout as sleep } from 'node:timers/promises';
import { FrameRows, RdmaWriter } from '@int/dart';
import { geometryOf, hashParameters, KeyHashes } from '@int/dart/internals';
import { UdpRdmaSender } from '@int/dart/node';
import { Fabric, VALUE_BYTES } from './trace/fabric.js';
import { READY, type SenderOrder, type SenderReport } from './trace/order.js';

/** Flows reported at once, at most. */
const BURST = 64;
const SEGMENT_BYTES = 2 ** 31;

async function send(order: SenderOrder, isStopped: () => boolean): Promise<SenderReport> {
  const { host, port, slots, copies, remoteKey, rate } = order;
  const fabric = new Fabric(order.fabric);
  const socket = await UdpRdmaSender.open({ address: host });
  const collectors = [{ id: 0, address: host, port, remoteKey, base: BigInt(order.base), slots }];
  // An edge switch has a queue pair of its own, and numbers its packets by itself.
  const writers = Array.from(
    { length: fabric.topology.edgeCount },
    (_, edge) =>
      new RdmaWriter({
        geometry: geometryOf(slots, VALUE_BYTES, 32, copies, SEGMENT_BYTES),
        hashes: new KeyHashes(hashParameters('xxhash', 0)),
        collectors: collectors.map((collector) => ({ ...collector, queuePair: order.firstQueuePair + edge })),
        format: 'udp',
        source: socket.address,
        sourcePort: socket.port,
      }),
  );
  const frames = new FrameRows(BURST * copies, BURST * copies * writers[0]!.packetBytes);
  process.send!(READY);
  const started = performance.now();
  let flow = 0;
  let sent = 0;
  while (flow < fabric.flows && !isStopped()) {
    const due = Math.min(fabric.flows, Math.floor(((performance.now() - started) / 1000) * rate));
    if (flow >= due) await sleep(1);
    while (flow < due && !isStopped()) {
      frames.clear();
      for (const end = Math.min(due, flow + BURST); flow < end; flow++) {
        writers[fabric.sinks[flow]!]!.writeRows(fabric.keys, fabric.values, flow, flow + 1, frames);
      }
      await socket.sendRows(frames, collectors);
      sent += frames.count;
    }
  }
  await socket.close();
  return { flows: flow, sent, seconds: (performance.now() - started) / 1000 };
}

let isStopped = false;
process.on('SIGINT', () => {
  // A terminal sends it to both processes; the other one says when to stop.
});
process.on('message', (message: SenderOrder | 'stop') => {
  if (message === 'stop') {
    isStopped = true;
    return;
  }
  send(message, () => isStopped).then(
    (report) => process.send!(report, undefined, undefined, () => process.disconnect()),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
