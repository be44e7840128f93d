/** One socket and its memory, on the thread that receives: frames in, decoded batches out. */
import { BatchDecoder, type DecodeOptions } from '@int/codec';
import { fillFrameTimes, WallClock } from '@int/collector/internals';
import { XdpError } from '../errors.js';
import type { XdpMode } from '../program.js';
import { XdpSocket } from '../socket.js';
import { FRAMES, LEAST_FRAMES, type QueueGeometry } from './options.js';
import { type Figures, QueueMemory, type Slot } from './queue-memory.js';

/** What it takes to receive from one queue; threads can be sent it. */
export interface ReceiverSetup extends Omit<QueueGeometry, 'frames'> {
  readonly interface: string;
  readonly queue: number;
  /** The program's map of sockets. */
  readonly socketMap: number;
  /** How the program is attached. */
  readonly mode: XdpMode;
  readonly zeroCopy: boolean | undefined;
  /** `null`: as many as the process may lock. */
  readonly frames: number | null;
  readonly decode: DecodeOptions;
}

function geometryOf({ frameSize, batchFrames, batches }: ReceiverSetup, frames: number): QueueGeometry {
  // Half of the frames stay with the kernel, whatever is under way.
  const most = frames / 2;
  const perBatch = Math.min(batchFrames, most / 2);
  return {
    frames,
    frameSize,
    batchFrames: perBatch,
    batches: Math.max(2, Math.min(batches, Math.floor(most / perBatch))),
  };
}

export class Receiver {
  readonly memory: QueueMemory;
  readonly socket: XdpSocket;
  readonly #decoder: BatchDecoder;
  readonly #clock = new WallClock();

  /**
   * Opens the socket of a queue.
   * @param isShared whether another thread is to read what it receives
   * @throws XdpError (rejects)
   */
  static async open(setup: ReceiverSetup, isShared: boolean): Promise<Receiver> {
    for (let frames = setup.frames ?? FRAMES; ; frames /= 2) {
      const memory = QueueMemory.allocate(geometryOf(setup, frames), isShared);
      try {
        const socket = await XdpSocket.open({
          interface: setup.interface,
          queue: setup.queue,
          program: setup.socketMap,
          mode: setup.mode,
          frames,
          frameSize: setup.frameSize,
          memory: memory.umem,
          ...(setup.zeroCopy !== undefined && { zeroCopy: setup.zeroCopy }),
        });
        return new Receiver(memory, socket, setup.decode);
      } catch (error) {
        const isTooMuch = XdpError.is(error) && error.code === 'ERR_XDP_MEMLOCK';
        if (!isTooMuch || setup.frames !== null || frames <= LEAST_FRAMES) throw error;
      }
    }
  }

  private constructor(memory: QueueMemory, socket: XdpSocket, decode: DecodeOptions) {
    this.memory = memory;
    this.socket = socket;
    memory.bind(socket.umem);
    this.#decoder = new BatchDecoder({ ...decode, ...(memory.accelerator !== null && { memory: memory.accelerator }) });
  }

  /** Fills a slot with what there is. @returns frames; 0: there is nothing */
  receive(slot: Slot): number {
    const count = this.socket.receive(slot.frames);
    if (count === 0) return 0;
    slot.count = count;
    fillFrameTimes(slot, 0, count, this.#clock.now());
    slot.decode(this.#decoder);
    return count;
  }

  /** Gives the frames of a slot back to the kernel. */
  release(slot: Slot): void {
    this.socket.release(slot.frames);
  }

  /** To be called now and then: follows the system's clock. @throws XdpError if the interface is gone */
  check(): void {
    this.#clock.adjust();
    this.socket.checkInterface();
  }

  figures(): Figures {
    const { received, kernel } = this.socket.stats();
    const { rxDropped, rxRingFull, fillRingEmpty } = kernel;
    return { received, rxDropped, rxRingFull, fillRingEmpty };
  }

  close(): void {
    this.socket.close();
  }
}
