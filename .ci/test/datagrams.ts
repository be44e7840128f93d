/** UDP on the loopback interface, where a reader that gets no turn in time loses what its buffer does not hold. */
import { createSocket, type Socket } from 'node:dgram';
import { existsSync, readFileSync } from 'node:fs';
import { inTime, type Patience, until } from './until.js';

/** What a receiver asks for; it gets what the system gives. */
const RECEIVE_BUFFER = 8 << 20;
/** Datagrams and bytes to send at a time: any kernel holds as much for a socket that is not being read. */
const AT_ONCE = 64;
const BYTES_AT_ONCE = 64 << 10;
/** Addresses as the tables show them: any and loopback, of IPv4 and IPv6. */
const LOCAL = /^(?:0{8}|0100007F|0{32}|0{24}01000000|0{16}FFFF00000100007F)$/;

/** What the kernel holds for the sockets of a port and has not held, as far as it tells (on Linux). */
function queue(port: number): { held: number; dropped: number } {
  const sum = { held: 0, dropped: 0 };
  const local = port.toString(16).toUpperCase().padStart(4, '0');
  for (const table of ['/proc/net/udp', '/proc/net/udp6']) {
    if (!existsSync(table)) continue;
    for (const line of readFileSync(table, 'utf8').split('\n').slice(1)) {
      const columns = line.trim().split(/ +/);
      const [address, own] = (columns[1] ?? '').split(':');
      if (own !== local || !LOCAL.test(address!)) continue;
      sum.held += Number.parseInt(columns[4]!.split(':')[1]!, 16);
      sum.dropped += Number(columns.at(-1));
    }
  }
  return sum;
}

/** Waits until all that has come to a port of this machine has been read. */
export async function drained(port: number, patience?: Patience): Promise<void> {
  await until(`a reader at UDP port ${port}`, () => queue(port).held === 0, { everyMs: 1, ...patience });
}

/** Sends one datagram, and waits until the system has taken it. */
export async function sendOne(socket: Socket, datagram: Uint8Array, port: number, host = '127.0.0.1'): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.send(datagram, port, host, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Sends datagrams to a port of this machine, a few at a time: the next ones when those have been read, so that the kernel
 * drops none however slow the reader is. When it is done, all have been read.
 *
 * @param from the address to send from; default: the system's choice
 */
export async function send(
  port: number,
  datagrams: readonly Uint8Array[],
  host = '127.0.0.1',
  from?: string,
): Promise<void> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  try {
    if (from !== undefined) await bound(socket, from);
    for (let at = 0; at < datagrams.length; ) {
      for (let count = 0, bytes = 0; at < datagrams.length && count < AT_ONCE && bytes < BYTES_AT_ONCE; count++, at++) {
        bytes += datagrams[at]!.length;
        await sendOne(socket, datagrams[at]!, port, host);
      }
      await drained(port);
    }
  } finally {
    socket.close();
  }
}

/** A UDP peer on this machine that keeps what arrives. */
export class Peer {
  readonly received: Buffer[] = [];
  readonly #socket: Socket = createSocket('udp4');

  /** @param receiveBuffer bytes to ask the system for */
  static async open(receiveBuffer = RECEIVE_BUFFER): Promise<Peer> {
    const peer = new Peer();
    peer.#socket.on('message', (message) => peer.received.push(message));
    await bound(peer.#socket);
    peer.#socket.setRecvBufferSize(receiveBuffer);
    return peer;
  }

  get port(): number {
    return this.#socket.address().port;
  }

  get url(): string {
    return `udp://127.0.0.1:${this.port}`;
  }

  /** Datagrams that came when the buffer was full, as far as the kernel tells (on Linux). */
  get dropped(): number {
    return queue(this.port).dropped;
  }

  /** Waits until so many datagrams have arrived or been dropped. */
  async until(count: number): Promise<void> {
    await until(`${count} datagrams`, () => this.received.length + this.dropped >= count, {
      found: () => `${this.received.length} received, ${this.dropped} dropped`,
    });
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }
}

/** A UDP port of this machine that refuses datagrams, and that nobody else can take before it is closed. */
export async function refusingPort(): Promise<{ readonly port: number; close(): void }> {
  const socket = createSocket('udp4');
  await bound(socket);
  const { port } = socket.address();
  // A connected socket takes nothing but what its peer sends.
  await inTime('a connected UDP socket', new Promise<void>((resolve) => socket.connect(9, '127.0.0.1', resolve)));
  return { port, close: () => void socket.close() };
}

async function bound(socket: Socket, address = '127.0.0.1'): Promise<void> {
  await inTime('a UDP port', new Promise<void>((resolve) => socket.bind(0, address, resolve)));
}
