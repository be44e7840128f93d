/** Telemetry reports over UDP at a pace, each counted: the far end of the soak. One datagram in some is hostile. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '@int/random';
import { MAX_REPORT_BYTES, ReportStream } from '@int/traffic';

/** An order, one a line: send for so long. The answer is how many were sent. */
export interface Order {
  /** Datagrams a second. */
  readonly rate: number;
  readonly seconds: number;
  /** Share of the datagrams that are cut, changed or noise. */
  readonly hostile: number;
}

/** Datagrams made before, and sent over and over again. */
const KINDS = 8192;
/** Under way in the socket at most. */
const MOST_OPEN = 512;

function datagrams(): Uint8Array[] {
  const stream = new ReportStream({ topology: 'leaf-spine:4x2', flows: 256, ratePps: 100_000, seed: 7 });
  const bytes = new Uint8Array(KINDS * MAX_REPORT_BYTES);
  const [offsets, lengths] = [new Uint32Array(KINDS), new Uint32Array(KINDS)];
  const count = stream.fill(bytes, offsets, lengths, new Float64Array(KINDS), Number.POSITIVE_INFINITY);
  return Array.from({ length: count }, (_, row) => bytes.slice(offsets[row]!, offsets[row]! + lengths[row]!));
}

/** What a broken or malicious sender might do to a datagram. */
function spoilt(datagram: Uint8Array, random: Random): Uint8Array {
  const copy = datagram.slice();
  switch (random.integer(3)) {
    case 0:
      return copy.subarray(0, random.integer(copy.length));
    case 1:
      for (let times = 0; times < 4; times++) copy[random.integer(copy.length)] = random.integer(256);
      return copy;
    default:
      return Uint8Array.from({ length: 1 + random.integer(200) }, () => random.integer(256));
  }
}

/** Sends what standard input orders until it ends. */
export async function send(port: number): Promise<void> {
  const socket = createSocket('udp4');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  const good = datagrams();
  const random = new Random('hostile');
  const bad = good.map((datagram) => spoilt(datagram, random));
  let next = 0;
  let sent = 0;
  let open = 0;
  const done = (error: Error | null): void => {
    open--;
    if (error === null) sent++;
  };
  process.stdout.write('{"ready":true}\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const { rate, seconds, hostile } = JSON.parse(line) as Order;
    sent = 0;
    const started = performance.now();
    const total = Math.round(rate * seconds);
    for (let given = 0; given < total; ) {
      const due = Math.min(total, Math.floor(((performance.now() - started) / 1000) * rate));
      for (; given < due && open < MOST_OPEN; given++) {
        const row = next++ % good.length;
        open++;
        socket.send(random.uniform() < hostile ? bad[row]! : good[row]!, done);
      }
      await (open >= MOST_OPEN ? new Promise(setImmediate) : sleep(1));
      // A sender that does not reach the rate ends in time all the same.
      if (performance.now() - started > seconds * 1000) break;
    }
    while (open > 0) await new Promise(setImmediate);
    process.stdout.write(`${JSON.stringify({ sent })}\n`);
  }
  socket.close();
}
