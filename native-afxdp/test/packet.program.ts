/** Packet sockets at an end of a pair, for packet.test. */
import { PacketSocket, type PacketStats, XdpBatch } from '@int/afxdp';
import { serve } from './serve.js';

let socket: PacketSocket;
const receiving = new XdpBatch(64);
const sending = new XdpBatch(64);

async function received(count: number): Promise<Uint8Array[]> {
  const frames: Uint8Array[] = [];
  while (frames.length < count && (await socket.wait(10_000))) {
    const rows = socket.receive(receiving);
    for (let row = 0; row < rows; row++) {
      const at = receiving.offsets[row]!;
      frames.push(socket.umem.slice(at, at + receiving.lengths[row]!));
    }
    if (rows > 0) socket.release(receiving);
  }
  return frames;
}

const handlers = {
  open(name: string, frameSize: number): void {
    socket = PacketSocket.open({ interface: name, frameSize });
  },

  /** @returns rows that were not taken */
  send(frames: readonly Uint8Array[]): number {
    socket.acquire(sending, frames.length);
    frames.forEach((frame, row) => {
      socket.umem.set(frame, sending.offsets[row]!);
      sending.lengths[row] = frame.length;
    });
    socket.transmit(sending);
    return sending.count;
  },

  received,

  stats(): PacketStats {
    return socket.stats();
  },

  /** What misuse says, in this order: a second batch, rows of nobody, a wrong row, a closed socket. */
  misuse(): string[] {
    const said: string[] = [];
    const attempt = (action: () => unknown): void => {
      try {
        action();
        said.push('nothing');
      } catch (error) {
        said.push(`${(error as Error).name}: ${(error as { code?: string }).code ?? (error as Error).message}`);
      }
    };
    const batch = new XdpBatch(8);
    attempt(() => socket.release(batch));
    attempt(() => socket.transmit(batch));
    socket.acquire(batch, 4);
    attempt(() => socket.acquire(batch, 1));
    attempt(() => said.push(String(socket.acquire(new XdpBatch(1), 1))));
    batch.offsets[1] = 0;
    for (let row = 0; row < 4; row++) batch.lengths[row] = 60;
    attempt(() => socket.transmit(batch));
    batch.offsets[1] = batch.offsets[0]! + socket.frameSize;
    batch.lengths[2] = socket.frameSize + 1;
    attempt(() => socket.transmit(batch));
    batch.count = 0;
    attempt(() => socket.transmit(batch));
    socket.close();
    socket.close();
    attempt(() => socket.receive(batch));
    return said;
  },
};

export type Packets = typeof handlers;
serve(handlers);
