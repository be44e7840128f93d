/** One end of the wire: frames as they are, or this machine's own UDP and TCP. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { XdpBatch, XdpSocket } from '@int/afxdp';
import { inTime, until } from '../../../.ci/test/until.js';
import { serve } from '../serve.js';

const PATIENCE_MS = 30_000;
/** Frames under way at most: what the queues on the way hold. */
const WINDOW = 128;

let socket: XdpSocket;
const sending = new XdpBatch(WINDOW);
const receiving = new XdpBatch(64);
const frames: Uint8Array[] = [];
let failure: unknown = null;

async function receiveAll(): Promise<void> {
  while (!socket.isClosed) {
    const count = socket.receive(receiving);
    for (let row = 0; row < count; row++) {
      const at = receiving.offsets[row]!;
      frames.push(socket.umem.slice(at, at + receiving.lengths[row]!));
    }
    if (count > 0) socket.release(receiving);
    else await socket.wait(100);
  }
}

const handlers = {
  async open(name: string): Promise<void> {
    socket = await XdpSocket.open({ interface: name, ports: 'all', txFrames: 512 });
    receiveAll().catch((error: unknown) => {
      failure = error;
    });
  },

  /** Sends frames, no more at a time than a window; the caller waits for them at the other end. */
  async send(some: readonly Uint8Array[]): Promise<void> {
    if (some.length > WINDOW) throw new RangeError(`${some.length} frames at a time`);
    const count = socket.acquire(sending, some.length);
    if (count < some.length) throw new Error('no room');
    some.forEach((frame, row) => {
      socket.umem.set(frame, sending.offsets[row]!);
      sending.lengths[row] = frame.length;
    });
    const sent = (): boolean => {
      socket.transmit(sending);
      return sending.count === 0;
    };
    await until('room to send', sent, { everyMs: 1 });
    await socket.flush();
  },

  /** All frames that have arrived since the last time, when there are so many. */
  async received(count: number): Promise<Uint8Array[]> {
    const arrived = (): boolean => {
      if (failure !== null) throw failure;
      return frames.length >= count;
    };
    await until(`${count} frames`, arrived, { found: () => `${frames.length} frames` });
    return frames.splice(0);
  },

  /** Sends frames over and over, as fast as they are taken. */
  async flood(some: readonly Uint8Array[], times: number): Promise<void> {
    for (let time = 0; time < times; time++) await handlers.send(some);
  },

  /** Answers datagrams and connections with what came. @returns when it listens */
  async echo(address: string, port: number): Promise<void> {
    const datagrams = createSocket('udp4');
    datagrams.on('message', (message, from) => datagrams.send(message, from.port, from.address));
    datagrams.bind(port, address);
    await inTime('a UDP port', once(datagrams, 'listening'));
    const server = createServer((connection) => connection.pipe(connection));
    server.listen(port, address);
    await inTime('a TCP port', once(server, 'listening'));
  },

  /** Sends datagrams to be echoed. @returns how many came back as they were */
  async datagrams(address: string, port: number, count: number): Promise<number> {
    const client = createSocket('udp4');
    let good = 0;
    client.on('message', (message) => {
      if (message.equals(Buffer.alloc(100 + good, good))) good++;
    });
    for (let number = 0; number < count; number++) {
      client.send(Buffer.alloc(100 + number, number), port, address);
      for (const end = performance.now() + PATIENCE_MS; good <= number && performance.now() < end; ) await sleep(1);
    }
    client.close();
    return good;
  },

  /** Sends bytes over a connection to be echoed. @returns how many came back as they were */
  async bytes(address: string, port: number, count: number): Promise<number> {
    const connection = connect({ host: address, port });
    connection.setTimeout(PATIENCE_MS, () => connection.destroy(new Error('silence')));
    await inTime('a connection', once(connection, 'connect'));
    const sent = Buffer.from(Uint8Array.from({ length: count }, (_, index) => (index * 31) >>> 3));
    connection.end(sent);
    const pieces: Buffer[] = [];
    for await (const piece of connection) pieces.push(piece as Buffer);
    const got = Buffer.concat(pieces);
    return got.equals(sent) ? got.length : -1;
  },

  /** A datagram to a port where nobody listens. @returns what ICMP says of it */
  async refused(address: string, port: number): Promise<string> {
    const client = createSocket('udp4');
    client.connect(port, address);
    await inTime('a connected socket', once(client, 'connect'));
    client.send('?');
    const [error] = (await once(client, 'error', { signal: AbortSignal.timeout(PATIENCE_MS) })) as [
      NodeJS.ErrnoException,
    ];
    client.close();
    return error.code ?? '';
  },
};

export type Ends = typeof handlers;
serve(handlers);
