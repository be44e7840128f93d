import type { XdpBatch, XdpMode, XdpSocket } from '@int/afxdp';
import type { FrameMaker } from './frames.js';

/** What a receiver has found, frame by frame. */
export interface Findings {
  readonly frames: number;
  readonly bytes: number;
  /** Frames that are not byte for byte what was sent, or were never sent. */
  readonly wrong: number;
  readonly duplicates: number;
  /** Frames behind one with a higher number, where order is kept: in driver mode. */
  readonly late: number;
}

/** Compares what arrives with what was sent, exactly. */
export class Checker {
  readonly #maker: FrameMaker;
  readonly #seen: Uint8Array;
  readonly #keepsOrder: boolean;
  #frames = 0;
  #bytes = 0;
  #wrong = 0;
  #duplicates = 0;
  #late = 0;
  #last = -1;

  /**
   * `numbers`: frames have numbers below it. `mode`: of the socket; in generic mode the frames that a sender has sent from
   * two processors may overtake each other.
   */
  constructor(maker: FrameMaker, numbers: number, mode: XdpMode) {
    this.#keepsOrder = mode === 'driver';
    this.#maker = maker;
    this.#seen = new Uint8Array(numbers);
  }

  get frames(): number {
    return this.#frames;
  }

  /** Looks at every frame of a batch. */
  check(umem: Uint8Array, batch: XdpBatch): void {
    for (let row = 0; row < batch.count; row++) {
      const length = batch.lengths[row]!;
      this.#frame(Buffer.from(umem.buffer, umem.byteOffset + batch.offsets[row]!, length));
    }
  }

  #frame(frame: Buffer): void {
    this.#frames++;
    this.#bytes += frame.length;
    const index = this.#maker.indexOf(frame);
    if (index >= this.#seen.length || !this.#maker.isFrame(index, frame)) {
      this.#wrong++;
      return;
    }
    if (this.#seen[index] === 1) this.#duplicates++;
    this.#seen[index] = 1;
    if (index < this.#last && this.#keepsOrder) this.#late++;
    else this.#last = index;
  }

  findings(): Findings {
    return {
      frames: this.#frames,
      bytes: this.#bytes,
      wrong: this.#wrong,
      duplicates: this.#duplicates,
      late: this.#late,
    };
  }
}

/** How long nothing may move before a test gives up: far more than anything takes, however busy the machine is. */
export const PATIENCE_MS = 30_000;

/**
 * Sends the frames `from` to `to - 1`, waiting for room as long as it takes.
 *
 * @throws Error if there is none for {@link PATIENCE_MS}
 */
export async function send(
  socket: XdpSocket,
  batch: XdpBatch,
  maker: FrameMaker,
  from: number,
  to: number,
): Promise<void> {
  let moved = Date.now();
  for (let next = from; next < to || batch.count > 0; ) {
    if (batch.count === 0) {
      const count = socket.acquire(batch, Math.min(batch.capacity, to - next));
      for (let row = 0; row < count; row++) {
        const frame = maker.make(next++);
        socket.umem.set(frame, batch.offsets[row]!);
        batch.lengths[row] = frame.length;
      }
    }
    if (batch.count > 0 && socket.transmit(batch) > 0) moved = Date.now();
    else await socket.flush(10);
    if (Date.now() - moved > PATIENCE_MS) throw new Error(`no room to send frame ${next}; ${socket.pending} pending`);
  }
}

/** Waits until everything sent has left. @throws Error if it does not */
export async function drain(socket: XdpSocket): Promise<void> {
  if (!(await socket.flush(PATIENCE_MS))) throw new Error(`${socket.pending} frames are still pending`);
}
