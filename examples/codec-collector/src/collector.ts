// Receives telemetry reports on a UDP port and prints, once a second, the 99th percentile of hop latency per switch.
import { createSocket } from 'node:dgram';
import { BatchDecoder, NOT_AVAILABLE, TelemetryBatch } from '@int/codec';

const decoder = new BatchDecoder({ linkType: 'report' });
const batch = new TelemetryBatch({ frames: 1024, reports: 8192, hops: 32_768 });
const bytes = new Uint8Array(1 << 20);
const [offsets, lengths] = [new Uint32Array(1024), new Uint32Array(1024)];
let [waiting, used, rejected] = [0, 0, 0];
const latencies = new Map<number, number[]>();

function decode(): void {
  for (let next = 0; next < waiting; batch.clear()) {
    next = decoder.decode(batch, { bytes, offsets, lengths }, next, waiting);
    for (let frame = 0; frame < batch.frames; frame++) if (batch.frameCode[frame] !== 0) rejected++;
    for (let row = 0; row < batch.hops; row++) {
      const [node, latency] = [batch.hop.nodeId[row]!, batch.hop.hopLatency[row]!];
      if (latency === NOT_AVAILABLE) continue;
      const values = latencies.get(node) ?? [];
      latencies.set(node, values);
      values.push(latency);
    }
  }
  waiting = used = 0;
}
const socket = createSocket('udp4', (datagram) => {
  if (waiting === offsets.length || used + datagram.length > bytes.length) decode();
  bytes.set(datagram, used);
  offsets[waiting] = used;
  lengths[waiting++] = datagram.length;
  used += datagram.length;
});
socket.bind(Number(process.argv[2] ?? 32766), () => console.log(`listening on UDP port ${socket.address().port}`));
setInterval(() => {
  decode();
  for (const values of latencies.values()) values.sort((a, b) => a - b);
  const lines = [...latencies].map(([node, all]) => `switch ${node}: ${all[Math.ceil(all.length * 0.99) - 1]!} ns`);
  console.log(`p99 of hop latency: ${lines.join(', ') || 'nothing yet'}; ${rejected} datagrams rejected`);
  latencies.clear();
}, 1000);
