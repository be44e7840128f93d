/** The network's time goes as the clock does, and its collector is a socket. */
import { createSocket } from 'node:dgram';
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import type { Fabric } from './network/fabric.js';

const SLICE_NS = 1e6;
const PACE_MS = 1;
/** Ethernet, IPv4 without options and UDP: what lies behind is the report. */
const HEADERS_BYTES = 42;

/** Runs a fabric until it is stopped. */
export class RealTime {
  /** Reports sent, and how far the network's time is behind the clock's at most, in milliseconds. */
  reports = 0;
  mostBehindMs = 0;
  #isStopped = false;
  readonly #running: Promise<void>;

  /** @param port of the collector on 127.0.0.1 */
  constructor(fabric: Fabric, port: number) {
    const socket = createSocket('udp4');
    // Nobody may listen yet.
    socket.on('error', () => {});
    fabric.hosts.collector.onFrame = (frame) => {
      this.reports++;
      socket.send(frame, HEADERS_BYTES, frame.length - HEADERS_BYTES, port, '127.0.0.1');
    };
    this.#running = this.#run(fabric).finally(() => socket.close());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run({ network }: Fabric): Promise<void> {
    const begun = performance.now();
    while (!this.#isStopped) {
      const next = network.nowNs + SLICE_NS;
      const behindMs = performance.now() - begun - next / 1e6;
      if (behindMs < 0) {
        await sleep(PACE_MS);
        continue;
      }
      this.mostBehindMs = Math.max(this.mostBehindMs, behindMs);
      network.run(next);
      await breathe();
    }
  }
}
