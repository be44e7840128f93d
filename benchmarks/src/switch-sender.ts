/** Sends frames by AF_XDP at a rate, for the benchmark of the switch: `switch-sender INTERFACE RATE COUNT`, frames in hex on standard input. */
import { readFileSync } from 'node:fs';
import { XdpBatch, XdpSocket } from '@int/afxdp';

const [name = '', rate = '', count = ''] = process.argv.slice(2);
const frames = readFileSync(0, 'latin1')
  .trim()
  .split('\n')
  .map((line) => Buffer.from(line, 'hex'));
const perMs = Number(rate) / 1000;
const total = Number(count);
const socket = await XdpSocket.open({ interface: name, ports: [], txFrames: 4096 });
const batch = new XdpBatch(64);
const start = performance.now();
let sent = 0;
while (sent < total) {
  const due = Math.min(total, Math.floor((performance.now() - start) * perMs));
  while (sent < due) {
    const room = socket.acquire(batch, Math.min(64, due - sent));
    if (room === 0) break;
    for (let row = 0; row < room; row++) {
      const frame = frames[(sent + row) % frames.length]!;
      socket.umem.set(frame, batch.offsets[row]!);
      batch.lengths[row] = frame.length;
    }
    sent += socket.transmit(batch);
    if (batch.count > 0) {
      batch.count = 0;
      socket.transmit(batch);
    }
  }
  if (sent >= due) await new Promise((resolve) => setImmediate(resolve));
  else await socket.flush(1);
}
const ms = performance.now() - start;
await socket.flush(2000);
console.log(JSON.stringify({ sent: sent - socket.stats().unsent, unsent: socket.stats().unsent, ms }));
socket.close();
