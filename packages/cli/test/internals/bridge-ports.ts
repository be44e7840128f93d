/** Ports as AF_XDP sockets are, with rings in memory and a wire that the test holds the end of. */
import { until } from '../../../../.ci/test/until.js';
import type { BridgeSide, FramePort, FrameRows, PortStats } from '../../src/bridge/frame-port.js';

const HEADROOM = 256;

export interface MemoryPortOptions {
  readonly frames?: number;
  readonly txFrames?: number;
  readonly frameSize?: number;
  /** Frames that the ring for sending holds; the rest is not accepted. Default: all. */
  readonly txRing?: number;
  /** Frames sent complete at once. Default true; else by {@link MemoryPort.complete}. */
  readonly completes?: boolean;
  /** Where the frames are to lie. */
  readonly memory?: Uint8Array;
}

export class MemoryRows implements FrameRows {
  readonly capacity: number;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  count = 0;
  /** Frames that the port has handed out in these rows, whatever `count` says. */
  held = 0;
  kind: 'taken' | 'acquired' = 'taken';

  constructor(capacity: number) {
    this.capacity = capacity;
    this.offsets = new Uint32Array(capacity);
    this.lengths = new Uint32Array(capacity);
  }
}

/** Who a chunk belongs to. A socket refuses what its caller does not own. */
type Owner = 'fill' | 'received' | 'taken' | 'tx-free' | 'acquired' | 'sent';

/** What an interface that is down or away answers with. */
class LinkError extends Error {}

export class MemoryPort implements FramePort {
  readonly interface: string;
  readonly queue = 0;
  readonly mode = 'memory';
  readonly umem: Uint8Array;
  /** What has left, in order. */
  readonly sent: Uint8Array[] = [];
  /** What the interface answers with from now on. */
  failure: Error | null = null;
  /** Down, it keeps what it accepts, and says so; see {@link MemorySide}. */
  isUp = true;
  closed = false;
  /** So many frames that it takes from now on go no further. */
  toDrop = 0;
  #unsent = 0;
  readonly #frameSize: number;
  readonly #owners: Owner[];
  readonly #fill: number[] = [];
  readonly #received: { readonly chunk: number; readonly length: number }[] = [];
  readonly #txFree: number[] = [];
  readonly #sending: number[] = [];
  readonly #accepted: { readonly chunk: number; readonly length: number; readonly offset: number }[] = [];
  readonly #txRing: number;
  readonly #completes: boolean;
  #rxDropped = 0;
  #wake: (() => void) | null = null;
  /** Called for each frame that has left. */
  onSent: (frame: Uint8Array) => void = () => {};

  constructor(name: string, options: MemoryPortOptions = {}) {
    const { frames = 256, txFrames = 256, frameSize = 2048 } = options;
    this.interface = name;
    this.#frameSize = frameSize;
    this.#txRing = options.txRing ?? txFrames;
    this.#completes = options.completes ?? true;
    this.umem =
      options.memory?.subarray(0, (frames + txFrames) * frameSize) ?? new Uint8Array((frames + txFrames) * frameSize);
    this.#owners = Array.from({ length: frames + txFrames }, (_, chunk) => (chunk < frames ? 'fill' : 'tx-free'));
    for (let chunk = 0; chunk < frames + txFrames; chunk++) (chunk < frames ? this.#fill : this.#txFree).push(chunk);
  }

  /** A frame arrives from the wire. */
  deliver(frame: Uint8Array): void {
    const chunk = frame.length > this.#frameSize - HEADROOM ? undefined : this.#fill.shift();
    if (chunk === undefined) {
      this.#rxDropped++;
      return;
    }
    const at = chunk * this.#frameSize + HEADROOM;
    this.umem.set(frame, at);
    this.#owners[chunk] = 'received';
    this.#received.push({ chunk, length: frame.length });
    this.#wake?.();
  }

  /** Lets the oldest frames that were sent be used again. */
  complete(count = Number.POSITIVE_INFINITY): void {
    for (const chunk of this.#sending.splice(0, count)) this.#move(chunk, 'sent', 'tx-free');
  }

  /** Frames that somebody has who has to give them back or send them. */
  get borrowed(): number {
    return this.#owners.filter((owner) => owner === 'taken' || owner === 'acquired').length;
  }

  /** Frames that arrived and were not taken yet. */
  get waiting(): number {
    return this.#received.length;
  }

  #move(chunk: number, from: Owner, to: Owner): void {
    if (this.#owners[chunk] !== from) throw new RangeError(`chunk ${chunk} is ${this.#owners[chunk]}, not ${from}`);
    this.#owners[chunk] = to;
    if (to === 'fill') this.#fill.push(chunk);
    if (to === 'tx-free') this.#txFree.push(chunk);
  }

  #open(): void {
    if (this.closed) throw new Error(`${this.interface} is closed`);
    if (this.failure !== null) throw this.failure;
  }

  receive(rows: MemoryRows): number {
    // What has been received stays so when the interface goes away.
    if (!(this.failure instanceof LinkError)) this.#open();
    this.#mustBeEmpty(rows);
    for (const { chunk, length } of this.#received.splice(0, rows.capacity)) {
      this.#move(chunk, 'received', 'taken');
      rows.offsets[rows.count] = chunk * this.#frameSize + HEADROOM;
      rows.lengths[rows.count++] = length;
    }
    rows.held = rows.count;
    rows.kind = 'taken';
    return rows.count;
  }

  release(rows: MemoryRows): void {
    if (rows.held > 0 && rows.kind !== 'taken') throw new RangeError('the rows hold frames to send');
    if (rows.count !== rows.held) throw new RangeError(`${rows.held} held, ${rows.count} to be released`);
    this.#giveBack(rows, 0);
  }

  #giveBack(rows: MemoryRows, from: number): void {
    for (let row = from; row < rows.held; row++) {
      const chunk = Math.floor(rows.offsets[row]! / this.#frameSize);
      // What arrives next may lie here: nobody must look at it any more.
      this.umem.fill(0xdd, chunk * this.#frameSize, (chunk + 1) * this.#frameSize);
      this.#move(chunk, rows.kind, rows.kind === 'taken' ? 'fill' : 'tx-free');
    }
    rows.held = rows.count = from;
  }

  #mustBeEmpty(rows: MemoryRows): void {
    if (rows.held !== 0) throw new RangeError(`the rows hold ${rows.held} frames`);
  }

  async wait(timeoutMs: number): Promise<boolean> {
    this.#open();
    if (this.#received.length > 0) return true;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake = (): void => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
    return this.#received.length > 0;
  }

  acquire(rows: MemoryRows, count: number): number {
    this.#open();
    this.#mustBeEmpty(rows);
    if (count < 1 || count > rows.capacity) throw new RangeError(`acquire ${count} of ${rows.capacity}`);
    rows.count = 0;
    for (const chunk of this.#txFree.splice(0, count)) {
      this.#owners[chunk] = 'acquired';
      rows.offsets[rows.count] = chunk * this.#frameSize;
      rows.lengths[rows.count++] = 0;
    }
    rows.held = rows.count;
    rows.kind = 'acquired';
    return rows.count;
  }

  transmit(rows: MemoryRows): number {
    this.#open();
    if (rows.held === 0 && rows.count === 0) return 0;
    if (rows.count > rows.held) throw new RangeError(`${rows.count} to be sent of ${rows.held}`);
    this.#giveBack(rows, rows.count);
    const accepted = Math.min(rows.count, this.#txRing - this.#sending.length);
    for (let row = 0; row < accepted; row++) {
      const [offset, length] = [rows.offsets[row]!, rows.lengths[row]!];
      const chunk = Math.floor(offset / this.#frameSize);
      if (length < 14 || (offset % this.#frameSize) + length > this.#frameSize)
        throw new RangeError(`length ${length}`);
      this.#move(chunk, 'acquired', 'sent');
      this.#accepted.push({ chunk, length, offset });
    }
    rows.offsets.copyWithin(0, accepted, rows.count);
    rows.lengths.copyWithin(0, accepted, rows.count);
    rows.held = rows.count -= accepted;
    if (rows.count + accepted > 0) this.#kick();
    return accepted;
  }

  /** Lets go what has been accepted. */
  #kick(): void {
    if (this.#accepted.length > 0 && !this.isUp) throw new LinkError(`${this.interface} is down`);
    for (const { chunk, length, offset } of this.#accepted.splice(0)) {
      this.#sending.push(chunk);
      if (this.toDrop > 0) {
        this.toDrop--;
        this.#unsent++;
        continue;
      }
      const frame = this.umem.slice(offset, offset + length);
      this.sent.push(frame);
      this.onSent(frame);
    }
    if (this.#completes) this.complete();
  }

  get pending(): number {
    return this.#accepted.length + this.#sending.length;
  }

  async flush(timeoutMs = 1000): Promise<boolean> {
    this.#kick();
    for (const end = performance.now() + timeoutMs; this.#sending.length > 0 && performance.now() < end; ) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return this.#sending.length === 0;
  }

  stats(): PortStats {
    return { unsent: this.#unsent, kernel: { rxDropped: this.#rxDropped, rxRingFull: 0 } };
  }

  close(): void {
    this.closed = true;
    this.#wake?.();
  }
}

/** An interface that the test sets down, removes and makes again. */
export class MemorySide implements BridgeSide {
  readonly interface: string;
  ports: MemoryPort[];
  problem: Error | null = null;
  outages = 0;
  detached = false;
  closed = false;
  #state: 'up' | 'down' | 'gone' = 'up';
  readonly #make: () => MemoryPort[];

  /** @param make the ports, again each time that they are opened */
  constructor(name: string, make: () => MemoryPort[]) {
    this.interface = name;
    this.#make = make;
    this.ports = make();
  }

  /** The first port. */
  get port(): MemoryPort {
    return this.ports[0]!;
  }

  set(state: 'up' | 'down' | 'gone'): void {
    this.#state = state;
    for (const port of this.ports) {
      port.isUp = state === 'up';
      if (state === 'gone') port.failure = new LinkError(`${this.interface} has been removed`);
    }
  }

  look(): boolean {
    const isSame = this.ports.every(({ failure }) => !(failure instanceof LinkError));
    if (this.#state === 'up' && isSame && this.ports.length > 0) this.problem = null;
    else this.failed(new LinkError(`${this.interface} is ${this.#state === 'down' ? 'down' : 'away'}`));
    return isSame;
  }

  failed(error: unknown): boolean {
    if (!(error instanceof LinkError)) return false;
    if (this.problem === null) this.outages += 1;
    this.problem = error;
    return true;
  }

  async renew(signal: AbortSignal): Promise<void> {
    for (const port of this.ports.splice(0)) port.close();
    await until(`${this.interface} again`, () => this.#state !== 'gone' || signal.aborted);
    if (signal.aborted) return;
    this.ports = this.#make();
    this.set(this.#state);
  }

  detach(): void {
    this.detached = true;
  }

  close(): void {
    this.closed = true;
    for (const port of this.ports.splice(0)) port.close();
  }
}
