/** Two ports joined by a cable within the process. */
import { copyBytes, type FrameTaker, type Port, PortCounts } from './port.js';

export interface LinkOptions {
  /** Time that a frame takes, in milliseconds. Default 0. */
  readonly delayMs?: number;
  /** Frames that may be under way in each direction. Default 4096. */
  readonly capacity?: number;
}

const SHORTEST_BUFFER = 2048;
const LONGEST = 262_144;

/** Frames under way in one direction. Buffers are used again and again. */
class Cable {
  readonly #buffers: Uint8Array[];
  readonly #lengths: Uint32Array;
  readonly #dueMs: Float64Array;
  readonly delayMs: number;
  readonly capacity: number;
  head = 0;
  waiting = 0;

  constructor({ delayMs = 0, capacity = 4096 }: LinkOptions) {
    if (!(delayMs >= 0 && delayMs < Number.POSITIVE_INFINITY))
      throw new RangeError(`delayMs must be 0 or more: ${delayMs}`);
    if (!(Number.isInteger(capacity) && capacity >= 1 && capacity <= 1 << 20)) {
      throw new RangeError(`capacity must be an integer from 1 to ${1 << 20}, not ${capacity}`);
    }
    this.delayMs = delayMs;
    this.capacity = capacity;
    this.#buffers = [];
    this.#lengths = new Uint32Array(capacity);
    this.#dueMs = new Float64Array(capacity);
  }

  get nextMs(): number {
    return this.waiting === 0 ? Number.POSITIVE_INFINITY : this.#dueMs[this.head]!;
  }

  put(bytes: Uint8Array, offset: number, length: number): void {
    const at = (this.head + this.waiting++) % this.capacity;
    let buffer = this.#buffers[at];
    if (buffer === undefined || buffer.length < length) {
      buffer = new Uint8Array(Math.max(SHORTEST_BUFFER, length));
      this.#buffers[at] = buffer;
    }
    copyBytes(bytes, offset, length, buffer, 0);
    this.#lengths[at] = length;
    this.#dueMs[at] = this.delayMs === 0 ? 0 : performance.now() + this.delayMs;
  }

  take(most: number, counts: PortCounts, take: FrameTaker): number {
    let count = 0;
    const now = this.delayMs === 0 || this.waiting === 0 ? 0 : performance.now();
    while (count < most && this.waiting > 0 && this.#dueMs[this.head]! <= now) {
      const at = this.head;
      const length = this.#lengths[at]!;
      counts.received++;
      counts.receivedBytes += length;
      // The frame keeps its place until its consumer is done with it.
      take(this.#buffers[at]!, 0, length);
      this.head = at + 1 === this.capacity ? 0 : at + 1;
      this.waiting--;
      count++;
    }
    return count;
  }
}

/** One end of a link between two switches of one loop. The rate and the queue are those of the switch's port. */
export class LinkPort implements Port {
  readonly name: string;
  readonly isUp = true;
  readonly #counts = new PortCounts();
  readonly #out: Cable;
  readonly #in: Cable;
  #isClosed = false;

  private constructor(name: string, out: Cable, into: Cable) {
    this.name = name;
    this.#out = out;
    this.#in = into;
  }

  /**
   * Makes both ends of a link.
   * @param names of the ends, for counters
   * @throws RangeError for an option out of range
   */
  static pair(names: readonly [string, string], options: LinkOptions = {}): readonly [LinkPort, LinkPort] {
    const [there, back] = [new Cable(options), new Cable(options)];
    return [new LinkPort(names[0], there, back), new LinkPort(names[1], back, there)];
  }

  get dueMs(): number {
    return this.#in.nextMs;
  }

  counts(): PortCounts {
    return this.#counts;
  }

  poll(most: number, take: FrameTaker): number {
    return this.#in.take(most, this.#counts, take);
  }

  room(): number {
    return this.#out.capacity - this.#out.waiting;
  }

  send(bytes: Uint8Array, offset: number, length: number): void {
    const { dropped } = this.#counts;
    if (length > LONGEST) dropped.txTooLong++;
    else if (this.#isClosed) dropped.down++;
    else if (this.room() === 0) dropped.txFull++;
    else {
      this.#out.put(bytes, offset, length);
      this.#counts.sent++;
      this.#counts.sentBytes += length;
    }
  }

  flush(): void {}

  /** What comes is sent by a switch of the same loop, which then has work. */
  onReady(): void {}

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#counts.dropped.rxFull += this.#in.waiting;
  }
}
