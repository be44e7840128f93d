import { STRIP, type Stripper } from '@int/codec';
import { type BridgeSides, type FramePort, type FrameRows, SHORTEST_FRAME } from './frame-port.js';
import { Outlet } from './outlet.js';
import { type BridgeDrop, ForwarderTotals } from './totals.js';

export const FORWARDER_ROWS = 64;
/** Longest wait for frames before a check whether to stop. */
const WAIT_MS = 50;
/** Longest turn while frames keep coming, so that timers, signals and the other forwarder get theirs. */
const TURN_MS = 2;
/** Longest time for forwarding the remaining frames after the end. */
const DRAIN_MS = 200;

/**
 * Receives the frames of a batch to decode, after they have been forwarded and before their memory is reused. A
 * returned promise delays the reuse.
 */
export type TakeFrames = (
  bytes: Uint8Array,
  offsets: Uint32Array,
  lengths: Uint32Array,
  count: number,
) => Promise<void> | undefined;

export interface ForwarderOptions {
  readonly from: FramePort;
  /** Outgoing port. With `null`, arriving frames are decoded and counted as failed. */
  readonly to: FramePort | null;
  readonly rows: BridgeSides['rows'];
  /** Removes INT; without it, all frames are forwarded unchanged. */
  readonly stripper?: Stripper;
  /** Receives frames with INT or, with `takesAll`, all frames. */
  readonly take?: TakeFrames;
  readonly takesAll?: boolean;
}

export interface ForwarderFailure {
  readonly port: FramePort;
  readonly error: unknown;
}

/** One direction of a bridge, from one queue: receives frames, removes INT, and sends them. */
export class Forwarder {
  readonly totals = new ForwarderTotals();
  readonly from: FramePort;
  readonly #received: FrameRows;
  readonly #outlet: Outlet | null;
  readonly #stripper: Stripper | null;
  readonly #take: TakeFrames | null;
  readonly #takesAll: boolean;
  /**
   * The memories for reading and writing frames. If both are parts of one buffer, a single array covers them, which
   * copies faster.
   */
  readonly #source: Uint8Array;
  readonly #target: Uint8Array;
  readonly #sourceBase: number;
  readonly #targetBase: number;
  #verdict: number = STRIP.PLAIN;
  /** Verdicts of the frames added to the outlet. */
  readonly #verdicts = new Uint8Array(FORWARDER_ROWS);
  /** Frames to decode. */
  readonly #offsets = new Uint32Array(FORWARDER_ROWS);
  readonly #lengths = new Uint32Array(FORWARDER_ROWS);
  #takenCount = 0;
  /** Frames accepted by the outlet before it failed; it is unknown whether they leave. */
  #unsure = 0;
  /** Memory for frames that cannot be sent, but are decoded. */
  #scratch = new Uint8Array(0);
  #mode: 'run' | 'pause' | 'stop' = 'run';
  #failure: ForwarderFailure | null = null;

  constructor({ from, to, rows, stripper, take, takesAll }: ForwarderOptions) {
    this.from = from;
    this.#received = rows(FORWARDER_ROWS);
    this.#outlet = to === null ? null : new Outlet(to, rows(FORWARDER_ROWS));
    this.#stripper = stripper ?? null;
    this.#take = take ?? null;
    this.#takesAll = takesAll ?? false;
    const [source, target] = [from.umem, to?.umem ?? new Uint8Array(0)];
    const isShared = source.buffer === target.buffer;
    this.#source = isShared ? new Uint8Array(source.buffer) : source;
    this.#target = isShared ? this.#source : target;
    this.#sourceBase = isShared ? source.byteOffset : 0;
    this.#targetBase = isShared ? target.byteOffset : 0;
  }

  /**
   * Forwards until {@link stop} or {@link pause}, or until a port fails. All received frames are then counted.
   * @returns the port that failed, or null
   */
  async run(): Promise<ForwarderFailure | null> {
    let turnEnd = performance.now() + TURN_MS;
    while (this.#mode === 'run' && this.#failure === null) {
      if (await this.#step()) {
        if (performance.now() < turnEnd) continue;
        await new Promise(setImmediate);
      } else await this.#wait();
      turnEnd = performance.now() + TURN_MS;
    }
    // Frames that a port received before it failed are still valid.
    if (this.#mode === 'stop' || this.#failure?.port === this.from) await this.#drain();
    if (this.#mode === 'stop') {
      await this.#flush();
      // Forward frames that were still in the kernel.
      await this.#drain();
    }
    return this.#failure;
  }

  async #wait(): Promise<void> {
    try {
      await this.from.wait(WAIT_MS);
    } catch (error) {
      this.#failure ??= { port: this.from, error };
    }
  }

  async #drain(): Promise<void> {
    const end = performance.now() + DRAIN_MS;
    while ((await this.#step()) && performance.now() < end);
  }

  async #flush(): Promise<void> {
    if (this.#outlet === null) return;
    try {
      await this.#outlet.port.flush(DRAIN_MS);
    } catch (error) {
      this.#failure ??= { port: this.#outlet.port, error };
    }
  }

  /** Ends {@link run} when the frames that have arrived are forwarded, or the time for it is over. */
  stop(): void {
    this.#mode = 'stop';
  }

  /** Ends {@link run} soon. Frames that have arrived are left to another forwarder. */
  pause(): void {
    if (this.#mode === 'run') this.#mode = 'pause';
  }

  /** Forwards one batch. @returns whether there was one */
  async #step(): Promise<boolean> {
    const rows = this.#received;
    const count = this.#receive(rows);
    if (count === 0) return false;
    this.totals.received += count;
    this.#takenCount = 0;
    await this.#forward(count);
    const taken = this.#takenCount;
    if (taken > 0) await this.#take?.(this.from.umem, this.#offsets, this.#lengths, taken);
    this.from.release(rows);
    return true;
  }

  #receive(rows: FrameRows): number {
    try {
      return this.from.receive(rows);
    } catch (error) {
      this.#failure ??= { port: this.from, error };
      return 0;
    }
  }

  async #forward(count: number): Promise<void> {
    const outlet = this.#outlet;
    let row = 0;
    while (row < count) {
      if (outlet === null || this.#failure?.port === outlet.port) {
        this.#lookAt(row, count, 'failed');
        return;
      }
      row = await this.#forwardSome(outlet, row, count);
    }
  }

  /** Forwards frames from `row` on. @returns the next row */
  async #forwardSome(outlet: Outlet, row: number, count: number): Promise<number> {
    const room = await outlet.room(count - row).catch((error: unknown) => this.#cannotSend(outlet, error));
    if (room === null) return row;
    if (room === 0) {
      this.#lookAt(row, count, 'tx-full');
      return count;
    }
    let next = row;
    let added = 0;
    for (const end = row + room; next < end; next++) {
      const place = this.#targetBase + outlet.place;
      const length = this.#write(next, this.#target, place);
      if (length === 0) continue;
      this.#verdicts[added++] = this.#verdict;
      outlet.add(length);
    }
    const failed = await outlet.send().then(
      () => false,
      (error: unknown) => this.#cannotSend(outlet, error) === null,
    );
    const { sent } = outlet;
    for (let k = 0; k < sent; k++) this.#countForwarded(this.#verdicts[k]!);
    this.totals.dropped[failed ? 'failed' : 'tx-full'] += added - sent;
    if (failed) this.#unsure = sent;
    return next;
  }

  /**
   * Counts the last accepted frames as failed, at most `unsent`, after the port has failed.
   * @param unsent frames that the port will never send
   * @returns number of frames counted
   */
  takeBack(unsent: number): number {
    const { totals } = this;
    const count = Math.min(unsent, this.#unsure);
    for (let k = this.#unsure - count; k < this.#unsure; k++) this.#countForwarded(this.#verdicts[k]!, -1);
    this.#unsure -= count;
    totals.dropped.failed += count;
    return count;
  }

  #cannotSend({ port }: Outlet, error: unknown): null {
    this.#failure ??= { port, error };
    return null;
  }

  /** Decodes frames that cannot be sent. */
  #lookAt(from: number, to: number, reason: BridgeDrop): void {
    const { lengths } = this.#received;
    for (let row = from; row < to; row++) {
      if (this.#scratch.length < lengths[row]!) this.#scratch = new Uint8Array(lengths[row]!);
      if (this.#write(row, this.#scratch, 0) > 0) this.totals.dropped[reason]++;
    }
  }

  /**
   * Writes a received frame in the form to send, and notes it if it must be decoded.
   * @returns its length; 0 if it is dropped, which is then counted
   */
  #write(row: number, target: Uint8Array, at: number): number {
    const { offsets, lengths } = this.#received;
    const source = this.#source;
    const offset = this.#sourceBase + offsets[row]!;
    const length = lengths[row]!;
    const stripper = this.#stripper;
    if (stripper === null) {
      this.#copy(offset, length, target, at);
      return length;
    }
    const written = stripper.strip(source, offset, length, target, at);
    this.#verdict = stripper.verdict;
    if (this.#takesAll || this.#verdict !== STRIP.PLAIN) {
      this.#offsets[this.#takenCount] = offsets[row]!;
      this.#lengths[this.#takenCount++] = length;
    }
    if (this.#verdict === STRIP.DISCARD) {
      this.totals.dropped.discard++;
      return 0;
    }
    if (written >= SHORTEST_FRAME || this.#verdict !== STRIP.STRIPPED) return written;
    // The content of a tunnel is not a frame.
    this.#verdict = STRIP.UNSOUND;
    this.#copy(offset, length, target, at);
    return length;
  }

  #copy(offset: number, length: number, target: Uint8Array, at: number): void {
    const source = this.#source;
    if (source === target) target.copyWithin(at, offset, offset + length);
    else target.set(source.subarray(offset, offset + length), at);
  }

  #countForwarded(verdict: number, frames: 1 | -1 = 1): void {
    const { totals } = this;
    totals.forwarded += frames;
    if (verdict === STRIP.PLAIN) totals.plain += frames;
    else if (verdict === STRIP.STRIPPED) totals.stripped += frames;
    else totals.unstripped += frames;
  }
}
