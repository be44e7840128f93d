import type { FramePort, FrameRows } from './frame-port.js';

/** How long a frame may wait for room to be sent in, in steps of {@link PAUSE_MS}. */
const PAUSES = 20;
const PAUSE_MS = 1;

/**
 * Where frames leave by: {@link room} takes empty ones from a port, {@link place} says where the next one is to be
 * written, {@link add} counts it in, and {@link send} sends all that were added.
 */
export class Outlet {
  readonly port: FramePort;
  readonly #rows: FrameRows;
  #added = 0;

  /** @param rows as large as the largest number of frames added before they are sent */
  constructor(port: FramePort, rows: FrameRows) {
    this.port = port;
    this.#rows = rows;
  }

  /**
   * Waits, not for long, until at least one frame can be written.
   * @param wanted 1 to the rows' capacity
   * @returns frames that can be added before the next {@link send}: 1 to `wanted`, or 0 if there is no room
   */
  async room(wanted: number): Promise<number> {
    for (let pause = 0; ; pause++) {
      const got = this.port.acquire(this.#rows, wanted);
      if (got > 0 || pause === PAUSES) return got;
      await this.port.flush(PAUSE_MS);
    }
  }

  /** Where in the port's memory the next frame is to be written. */
  get place(): number {
    return this.#rows.offsets[this.#added]!;
  }

  /** Counts the frame written at {@link place} in. */
  add(length: number): void {
    this.#rows.lengths[this.#added++] = length;
  }

  /**
   * Sends what was added; waits, not for long, for room in the ring. Frames that were not used go back.
   * @returns frames sent: those that came first; the others never will be
   * @throws what the port throws
   */
  async send(): Promise<number> {
    const rows = this.#rows;
    const added = this.#added;
    this.#added = 0;
    rows.count = added;
    let sent = this.port.transmit(rows);
    for (let pause = 0; sent < added && pause < PAUSES; pause++) {
      await this.port.flush(PAUSE_MS);
      sent += this.port.transmit(rows);
    }
    if (sent < added) this.port.release(rows);
    return sent;
  }
}
