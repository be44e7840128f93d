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
  #sent = 0;

  /** @param rows as large as the largest number of frames added before they are sent */
  constructor(port: FramePort, rows: FrameRows) {
    this.port = port;
    this.#rows = rows;
  }

  /**
   * Frames of the last {@link send} that the port has accepted: those that came first. The others never leave; after a
   * failure, the last ones of these may not either, as long as they are {@link FramePort.pending}.
   */
  get sent(): number {
    return this.#sent;
  }

  /**
   * Waits, not for long, until at least one frame can be written.
   * @param wanted 1 to the rows' capacity
   * @returns frames that can be added before the next {@link send}: 1 to `wanted`, or 0 if there is no room
   * @throws what the port throws
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
   * @throws what the port throws
   */
  async send(): Promise<void> {
    const rows = this.#rows;
    const added = this.#added;
    this.#added = 0;
    rows.count = added;
    try {
      this.port.transmit(rows);
      for (let pause = 0; rows.count > 0 && pause < PAUSES; pause++) {
        await this.port.flush(PAUSE_MS);
        this.port.transmit(rows);
      }
    } finally {
      this.#sent = added - rows.count;
      this.#giveBack();
    }
  }

  /** Gives frames that were not accepted back unsent. */
  #giveBack(): void {
    const rows = this.#rows;
    if (rows.count === 0) return;
    rows.count = 0;
    this.port.transmit(rows);
  }
}
