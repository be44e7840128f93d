import { createSocket } from 'node:dgram';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Running } from './run.js';

/** The UDP payload of a report frame: behind Ethernet, IPv4 and UDP. */
export const payload = (frame: Uint8Array): Uint8Array => frame.subarray(14 + 20 + 8);

const UDP_SOCKETS = '/proc/net/udp';
/** Datagrams to send at a time: any kernel holds as many for a socket that is not being read. */
const AT_ONCE = 64;

/** Bytes that the kernel holds for the socket of a port; 0 where it does not tell. */
function held(port: number): number {
  if (!existsSync(UDP_SOCKETS)) return 0;
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const line of readFileSync(UDP_SOCKETS, 'utf8').split('\n')) {
    const [, address, , , queues] = line.trim().split(/ +/);
    if (address?.endsWith(local)) return Number.parseInt(queues!.split(':')[1]!, 16);
  }
  return 0;
}

/**
 * Sends datagrams to a port of this machine, a few at a time: the next ones when those have been read, so that the kernel
 * drops none however slow the reader is. When it is done, all have been read.
 */
export async function send(port: number, datagrams: readonly Uint8Array[]): Promise<void> {
  const socket = createSocket('udp4');
  for (let from = 0; from < datagrams.length; from += AT_ONCE) {
    for (const datagram of datagrams.slice(from, from + AT_ONCE)) {
      await new Promise<void>((resolve, reject) => {
        socket.send(datagram, port, '127.0.0.1', (error) => (error ? reject(error) : resolve()));
      });
    }
    while (held(port) > 0) await sleep(1);
  }
  await new Promise<void>((resolve) => socket.close(() => resolve()));
}

/** Starts the real command on a port of the system's choice, and waits until it listens. */
export async function listening(...options: string[]): Promise<{ process: Running; port: number }> {
  const process = new Running(['collect', '--listen', 'udp://127.0.0.1:0', ...options]);
  const match = await process.saying(/listening on udp:\/\/127\.0\.0\.1:(\d+)/);
  return { process, port: Number(match[1]) };
}
