/** Keeps every frame that arrives at an interface. */
import { XdpBatch, type XdpMode, XdpSocket } from '@int/afxdp';
import { until } from '../../.ci/test/until.js';
import { serve } from './serve.js';

let socket: XdpSocket | null = null;
let receiving: Promise<void> | null = null;
const frames: Uint8Array[] = [];

async function receive(from: XdpSocket): Promise<void> {
  const batch = new XdpBatch(64);
  while (await from.wait(60_000)) {
    while (from.receive(batch) > 0) {
      for (let row = 0; row < batch.count; row++) {
        const offset = batch.offsets[row]!;
        frames.push(from.umem.slice(offset, offset + batch.lengths[row]!));
      }
      from.release(batch);
    }
  }
}

const handlers = {
  async listen(name: string, mode: XdpMode): Promise<void> {
    socket = await XdpSocket.open({ interface: name, mode, ports: 'all', frameSize: 4096 });
    receiving = receive(socket);
  },

  /** Waits for frames; of those that have arrived, the ones from `from` on. */
  async arrived(count: number, from: number): Promise<readonly Uint8Array[]> {
    await until(`${count} frames`, () => frames.length >= count, { found: () => `${frames.length} frames` });
    return frames.slice(from);
  },

  async close(): Promise<void> {
    socket?.close();
    await receiving;
  },
};

/** What this program offers. */
export type Receiver = typeof handlers;

serve(handlers);
