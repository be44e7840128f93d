import { STRIP, type Stripper } from '@int/codec';
import { type BridgePorts, type FramePort, type FrameRows, SHORTEST_FRAME } from './frame-port.js';
import { Outlet } from './outlet.js';
import { LaneTotals } from './totals.js';

/** Frames taken at a time. */
export const LANE_ROWS = 64;
/** How long to wait for frames before looking after the interfaces. */
const WAIT_MS = 200;
/** How long to stay at it while frames keep coming, so that timers, signals and the other lane get their turn. */
const TURN_MS = 2;
/** How long frames that are there already are forwarded after the end. */
const DRAIN_MS = 200;

/**
 * Given the frames of a batch in which there is something to read, after they have been forwarded and before their
 * memory is used again. A promise delays that.
 */
export type TakeFrames = (
  bytes: Uint8Array,
  offsets: Uint32Array,
  lengths: Uint32Array,
  count: number,
) => Promise<void> | undefined;

export interface LaneOptions {
  readonly from: FramePort;
  readonly to: FramePort;
  readonly rows: BridgePorts['rows'];
  /** What takes INT out; without it all frames are forwarded as they are. */
  readonly stripper?: Stripper;
  /** Given frames that carry INT, or with `takesAll` all. */
  readonly take?: TakeFrames;
  readonly takesAll?: boolean;
}

/** One direction of a bridge, from one queue: receives frames and sends them on, without INT. */
export class Lane {
  readonly totals = new LaneTotals();
  readonly #from: FramePort;
  readonly #received: FrameRows;
  readonly #outlet: Outlet;
  readonly #stripper: Stripper | null;
  readonly #take: TakeFrames | null;
  readonly #takesAll: boolean;
  /** Where frames are read and written: one array over both memories where they lie in one, which copies faster. */
  readonly #source: Uint8Array;
  readonly #target: Uint8Array;
  readonly #sourceBase: number;
  readonly #targetBase: number;
  /** What became of the frame written last. */
  #verdict: number = STRIP.PLAIN;
  /** Verdicts of the frames added to the outlet. */
  readonly #verdicts = new Uint8Array(LANE_ROWS);
  /** Frames to be read. */
  readonly #offsets = new Uint32Array(LANE_ROWS);
  readonly #lengths = new Uint32Array(LANE_ROWS);
  #takenCount = 0;
  /** For frames that nobody can send, which are looked at nonetheless. */
  #scratch = new Uint8Array(0);
  #isStopping = false;

  constructor({ from, to, rows, stripper, take, takesAll }: LaneOptions) {
    this.#from = from;
    this.#received = rows(LANE_ROWS);
    this.#outlet = new Outlet(to, rows(LANE_ROWS));
    this.#stripper = stripper ?? null;
    this.#take = take ?? null;
    this.#takesAll = takesAll ?? false;
    const [source, target] = [from.umem, to.umem];
    const isShared = source.buffer === target.buffer;
    this.#source = isShared ? new Uint8Array(source.buffer) : source;
    this.#target = isShared ? this.#source : target;
    this.#sourceBase = isShared ? source.byteOffset : 0;
    this.#targetBase = isShared ? target.byteOffset : 0;
  }

  /**
   * Forwards until {@link stop}, then what is there already, and resolves when all has left.
   * @throws what a port throws; all frames received until then are accounted for
   */
  async run(): Promise<void> {
    let turnEnd = performance.now() + TURN_MS;
    while (!this.#isStopping) {
      if (await this.#step()) {
        if (performance.now() < turnEnd) continue;
        await new Promise(setImmediate);
      } else if (!(await this.#from.wait(WAIT_MS))) {
        this.#from.checkInterface();
        this.#outlet.port.checkInterface();
      }
      turnEnd = performance.now() + TURN_MS;
    }
    await this.#drain();
    await this.#outlet.port.flush(DRAIN_MS);
    // What was on its way through the kernel when the end came.
    await this.#drain();
  }

  async #drain(): Promise<void> {
    const end = performance.now() + DRAIN_MS;
    while ((await this.#step()) && performance.now() < end);
  }

  /** Makes {@link run} come to an end. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Forwards one batch. @returns whether there was one */
  async #step(): Promise<boolean> {
    const rows = this.#received;
    const count = this.#from.receive(rows);
    if (count === 0) return false;
    const { totals } = this;
    const accounted = totals.forwarded + totals.droppedCount;
    totals.received += count;
    this.#takenCount = 0;
    try {
      await this.#forward(count);
    } catch (error) {
      totals.dropped.failed += accounted + count - totals.forwarded - totals.droppedCount;
      throw error;
    }
    const taken = this.#takenCount;
    if (taken > 0) await this.#take?.(this.#from.umem, this.#offsets, this.#lengths, taken);
    this.#from.release(rows);
    return true;
  }

  async #forward(count: number): Promise<void> {
    const outlet = this.#outlet;
    for (let row = 0; row < count; ) {
      const room = await outlet.room(count - row);
      if (room === 0) {
        this.#lookAt(row, count);
        return;
      }
      let added = 0;
      for (const end = row + room; row < end; row++) {
        const place = this.#targetBase + outlet.place;
        const length = this.#write(row, this.#target, place);
        if (length === 0) continue;
        this.#verdicts[added++] = this.#verdict;
        outlet.add(length);
      }
      const sent = await outlet.send();
      for (let k = 0; k < sent; k++) this.#countForwarded(this.#verdicts[k]!);
      this.totals.dropped['tx-full'] += added - sent;
    }
  }

  /** Frames that cannot be sent: what they carry is read all the same. */
  #lookAt(from: number, to: number): void {
    const { lengths } = this.#received;
    for (let row = from; row < to; row++) {
      if (this.#scratch.length < lengths[row]!) this.#scratch = new Uint8Array(lengths[row]!);
      if (this.#write(row, this.#scratch, 0) > 0) this.totals.dropped['tx-full']++;
    }
  }

  /**
   * Writes a received frame as it is to be sent, and notes it if it is to be read.
   * @returns its length; 0, and counted, if it goes no further
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
    // What a tunnel carried is no frame.
    this.#verdict = STRIP.UNSOUND;
    this.#copy(offset, length, target, at);
    return length;
  }

  #copy(offset: number, length: number, target: Uint8Array, at: number): void {
    const source = this.#source;
    if (source === target) target.copyWithin(at, offset, offset + length);
    else target.set(source.subarray(offset, offset + length), at);
  }

  #countForwarded(verdict: number): void {
    const { totals } = this;
    totals.forwarded++;
    if (verdict === STRIP.PLAIN) totals.plain++;
    else if (verdict === STRIP.STRIPPED) totals.stripped++;
    else totals.unstripped++;
  }
}
