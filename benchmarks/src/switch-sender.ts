/**
 * Sends frames by AF_XDP at a rate, for the benchmark of the switch: `switch-sender INTERFACE RATE COUNT [SINK WINDOW]`, frames in hex
 * on standard input. With a window, at most so many frames are under way to the interface SINK: a sender that has waited, or a
 * switch that got no processor, does not have to make up for it.
 */
import { readFileSync } from 'node:fs';
import { XdpBatch, XdpSocket } from '@int/afxdp';

const [name = '', rate = '', count = '', sink, windowText = ''] = process.argv.slice(2);
const frames = readFileSync(0, 'latin1')
  .trim()
  .split('\n')
  .map((line) => Buffer.from(line, 'hex'));
const perMs = Number(rate) / 1000;
const total = Number(count);
const socket = await XdpSocket.open({ interface: name, ports: [], txFrames: 4096 });
const batch = new XdpBatch(64);
const window = sink === undefined ? Number.POSITIVE_INFINITY : Number(windowText);
/** Most milliseconds that are made up for, with a window. */
const BEHIND_MS = 2;
/** Milliseconds without an arrival after which what is under way counts as lost. */
const LOST_MS = 1000;
const arrivals = (): number =>
  sink === undefined ? 0 : Number(readFileSync(`/sys/class/net/${sink}/statistics/rx_packets`, 'latin1'));
const first = arrivals();
const start = performance.now();
let sent = 0;
let gone = 0;
let arrived = 0;
let arrivedAt = start;
/** When the first frame would have been due, at the present pace. */
let origin = start;
while (sent < total) {
  const now = performance.now();
  let due = Math.min(total, Math.floor((now - origin) * perMs));
  if (sink !== undefined) {
    const count = arrivals() - first;
    if (count !== arrived) {
      arrived = count;
      arrivedAt = now;
    } else if (now - arrivedAt > LOST_MS) {
      gone = sent - arrived;
      arrivedAt = now;
    }
    if (due - sent > BEHIND_MS * perMs) {
      origin = now - (sent + BEHIND_MS * perMs) / perMs;
      due = Math.min(total, Math.floor(sent + BEHIND_MS * perMs));
    }
    due = Math.min(due, arrived + gone + window);
  }
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
