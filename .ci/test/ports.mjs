// @ts-check
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Above those that Linux gives to whoever asks for any, so that nobody gets one between the look and its use. */
const FIRST = 61_000;
const LAST = 65_535;
const COUNT = LAST - FIRST + 1;
/** The next one to look at: another one in each process, and each once. */
let next = (process.pid * 97) % COUNT;

/**
 * A TCP port of this machine that nobody has, for a program that cannot choose one itself.
 * @returns {Promise<number>}
 */
export function freeTcpPort() {
  return freePort('TCP', async (port) => {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening').finally(() => server.close());
  });
}

/**
 * A UDP port of this machine that nobody has, for a program that cannot choose one itself.
 * @returns {Promise<number>}
 */
export function freeUdpPort() {
  return freePort('UDP', async (port) => {
    const socket = createSocket('udp4');
    socket.bind(port);
    await once(socket, 'listening').finally(() => socket.close());
  });
}

/**
 * @param {string} what
 * @param {(port: number) => Promise<void>} take rejects if somebody has the port
 */
async function freePort(what, take) {
  for (let look = 0; look < COUNT; look++) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    const isFree = await take(port).then(
      () => true,
      () => false,
    );
    if (isFree) return port;
  }
  throw new Error(`no free ${what} port from ${FIRST} to ${LAST}`);
}
