import type { FramePort, FrameRows } from './frame-port.js';

/** Longest wait for room to send, in steps of {@link PAUSE_MS}. */
const PAUSES = 20;
const PAUSE_MS = 1;

/**
 * Sends frames by a port. {@link room} takes empty frames from the port, {@link place} is the address for the next
 * frame, {@link add} adds it, and {@link send} sends all added frames.
 */
export class Outlet {
  readonly port: FramePort;
  readonly #rows: FrameRows;
  #added = 0;
  #sent = 0;

  /** @param rows capacity for the most frames added before a send */
  constructor(port: FramePort, rows: FrameRows) {
    this.port = port;
    this.#rows = rows;
  }

  /**
   * Number of frames of the last {@link send} that the port accepted, from the first on. The others never leave. After
   * a failure, accepted frames that are {@link FramePort.pending} may not leave either.
   */
  get sent(): number {
    return this.#sent;
  }

  /**
   * Waits, for a limited time, until at least one frame can be written.
   * @param wanted 1 to the rows' capacity
   * @returns frames that can be added before the next {@link send}: 1 to `wanted`, or 0 if there is no room
   * @throws the port's error
   */
  async room(wanted: number): Promise<number> {
    for (let pause = 0; ; pause++) {
      const got = this.port.acquire(this.#rows, wanted);
      if (got > 0 || pause === PAUSES) return got;
      await this.port.flush(PAUSE_MS);
    }
  }

  /** Offset in the port's memory for the next frame. */
  get place(): number {
    return this.#rows.offsets[this.#added]!;
  }

  /** Adds the frame written at {@link place}. */
  add(length: number): void {
    this.#rows.lengths[this.#added++] = length;
  }

  /**
   * Sends the added frames. Waits for a limited time for room in the ring. Unused frames are returned.
   * @throws the port's error
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

  #giveBack(): void {
    const rows = this.#rows;
    if (rows.count === 0) return;
    rows.count = 0;
    this.port.transmit(rows);
  }
}
