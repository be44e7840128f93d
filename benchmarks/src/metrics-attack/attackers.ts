/** Strangers that want the collector to stumble over its page: all at once, for as long as standard input says. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often each attack was made. */
export interface Attacks {
  /** Datagrams with forged node ids. */
  readonly forged: number;
  /** Clients that pipelined 40 scrapes and hung up. */
  readonly hasty: number;
  /** Connections with 200 scrapes each, all read. */
  readonly greedy: number;
  /** Connections with 100 scrapes each, of which hardly anything was read. */
  readonly slow: number;
  /** Connections that asked for nothing. */
  readonly silent: number;
  /** Requests for the health, and such by a name of the attacker. */
  readonly health: number;
}

type Counts = { -readonly [Name in keyof Attacks]: number };

/** Forged ids in the first fifth of a second: more than there are rows, many times. */
const BURST = 10_000;
/** Forged ids a second afterwards. */
const FORGED_RATE = 2000;
const REPORT = Buffer.from('2000000100000000100402203000000000000000000002bc0100002a', 'hex');
const NODE_AT = 4;
const scrapes = (count: number): string => 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count);
const health = (host: string): string => `GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

/** @param ports of the page and of the reports, with a comma */
export async function attack(ports: string): Promise<void> {
  const [page, reports] = ports.split(',').map(Number) as [number, number];
  // Strangers have processors of their own; here they take what is left.
  setPriority(constants.priority.PRIORITY_LOW);
  process.stdout.write('{"ready":true}\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const counts: Counts = { forged: 0, hasty: 0, greedy: 0, slow: 0, silent: 0, health: 0 };
    const until = performance.now() + Number(line) * 1000;
    const isOver = (): boolean => performance.now() > until;
    const open = new Set<Socket>();
    const client = (): Socket => {
      const socket = connect(page, '127.0.0.1');
      open.add(socket);
      // Turned away: that is what it is there for.
      socket.on('error', () => {}).once('close', () => open.delete(socket));
      return socket;
    };
    const greedy = async (): Promise<void> => {
      while (!isOver()) {
        const socket = client().resume();
        socket.write(scrapes(200));
        counts.greedy++;
        await closed(socket, until);
      }
    };
    await Promise.all([
      forge(reports, counts, isOver),
      ...[1, 2, 3, 4].map(greedy),
      (async (): Promise<void> => {
        while (!isOver()) {
          const socket = client();
          socket.write(scrapes(40));
          counts.hasty++;
          await sleep(5);
          socket.destroy();
        }
      })(),
      (async (): Promise<void> => {
        while (!isOver()) {
          const socket = client().pause();
          socket.write(scrapes(100));
          counts.slow++;
          await sleep(500);
          socket.read();
        }
      })(),
      (async (): Promise<void> => {
        while (!isOver()) {
          client();
          counts.silent++;
          await sleep(2);
        }
      })(),
      (async (): Promise<void> => {
        while (!isOver()) {
          const socket = client().resume();
          socket.write(health('localhost').repeat(50) + health('evil.example'));
          counts.health += 51;
          await closed(socket, until);
        }
      })(),
    ]);
    for (const socket of open) socket.destroy();
    process.stdout.write(`${JSON.stringify(counts)}\n`);
  }
}

/** Waits until a connection has closed, or the time is over. */
async function closed(socket: Socket, until: number): Promise<void> {
  const limit = sleep(Math.max(0, until - performance.now()), undefined, { ref: false });
  if (!socket.destroyed) await Promise.race([once(socket, 'close').catch(() => {}), limit]);
  // A server that refuses at once is not asked a million times.
  await sleep(1);
}

/** Reports of switches that do not exist, each of another one. */
async function forge(port: number, counts: Counts, isOver: () => boolean): Promise<void> {
  const socket = createSocket('udp4');
  // In the end there is nobody any more.
  socket.on('error', () => {});
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const began = performance.now();
  let open = 0;
  for (let id = 0; !isOver(); ) {
    const seconds = (performance.now() - began) / 1000;
    const due = Math.min(BURST, seconds * 5 * BURST) + Math.max(0, seconds - 0.2) * FORGED_RATE;
    for (; id < due; id++) {
      const datagram = Buffer.from(REPORT);
      datagram.writeUInt32BE(0x80000000 + id, NODE_AT);
      open++;
      socket.send(datagram, (error) => {
        open--;
        if (error === null) counts.forged++;
      });
    }
    await sleep(1);
  }
  while (open > 0) await sleep(1);
  socket.close();
}
