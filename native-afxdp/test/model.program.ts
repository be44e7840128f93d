/** Runs random sequences of calls on both ends of a pair against a model of what must come out. */
import { setTimeout as sleep } from 'node:timers/promises';
import { XdpBatch, type XdpMode, XdpSocket } from '@int/afxdp';
import { PATIENCE_MS } from './exchange.js';
import { FrameMaker } from './frames.js';
import { serve } from './serve.js';

/** One call of a sequence; `slot`: which of the batches. */
export type Step =
  | { readonly call: 'acquire'; readonly slot: number; readonly count: number }
  | { readonly call: 'transmit'; readonly slot: number }
  | { readonly call: 'receive'; readonly slot: number }
  | { readonly call: 'release'; readonly slot: number }
  | { readonly call: 'wait' }
  /** A column or the count is overwritten for the length of one call, which must be refused and change nothing. */
  | {
      readonly call: 'spoil';
      readonly slot: number;
      readonly what: Spoiling;
      readonly row: number;
      readonly value: number;
    };

/** What is overwritten: of a batch of received frames or of one that is to be sent. */
export type Spoiling = 'received offset' | 'acquired offset' | 'acquired length' | 'received count' | 'acquired count';

/** A sequence and the sizes of what it runs on. */
export interface Sequence {
  readonly mode: XdpMode;
  readonly frames: number;
  readonly txFrames: number;
  readonly capacity: number;
  readonly steps: readonly Step[];
}

const SLOTS = 3;
const SIZES = [60, 61, 146, 700, 1500];

/** Thrown where the socket and the model differ. */
function differs(what: string): never {
  throw new Error(`the model says otherwise: ${what}`);
}

class Run {
  readonly #sender: XdpSocket;
  readonly #receiver: XdpSocket;
  readonly #maker = new FrameMaker({ sizes: SIZES });
  readonly #acquired: XdpBatch[];
  readonly #received: XdpBatch[];
  readonly #sequence: Sequence;
  /** Numbers of the frames in each batch that is to be sent, row by row. */
  readonly #numbers: number[][] = Array.from({ length: SLOTS }, () => []);
  /** Frames that each side has out: in no batch an offset that is in another. */
  readonly #sendOffsets = new Set<number>();
  readonly #receiveOffsets = new Set<number>();
  /** Numbers of frames under way, and the how many-eth each was sent. */
  readonly #expected = new Map<number, number>();
  #last = -1;
  #next = 0;
  #sent = 0;
  #got = 0;

  constructor(sender: XdpSocket, receiver: XdpSocket, sequence: Sequence) {
    this.#sender = sender;
    this.#receiver = receiver;
    this.#sequence = sequence;
    const batches = (): XdpBatch[] => Array.from({ length: SLOTS }, () => new XdpBatch(sequence.capacity));
    this.#acquired = batches();
    this.#received = batches();
  }

  async step(step: Step): Promise<void> {
    if (step.call === 'acquire') this.#acquire(step.slot, step.count);
    else if (step.call === 'transmit') this.#transmit(step.slot);
    else if (step.call === 'receive') this.#receive(step.slot);
    else if (step.call === 'release') this.#release(step.slot);
    else if (step.call === 'spoil') this.#spoil(step.slot, step.what, step.row, step.value);
    else await this.#receiver.wait(0);
  }

  #acquire(slot: number, wanted: number): void {
    const batch = this.#acquired[slot]!;
    const numbers = this.#numbers[slot]!;
    // What a batch still holds has to be sent first.
    if (batch.count > 0) return;
    const count = this.#sender.acquire(batch, Math.min(wanted, this.#sequence.capacity));
    if (count !== batch.count) differs(`${count} frames acquired, the batch has ${batch.count}`);
    if (count > wanted) differs(`${count} frames acquired instead of ${wanted}`);
    if (this.#sendOffsets.size + count > this.#sequence.txFrames) differs('more frames to send with than there are');
    for (let row = 0; row < count; row++) {
      const offset = batch.offsets[row]!;
      if (batch.lengths[row] !== 0) differs(`a length of ${batch.lengths[row]} right after acquire`);
      this.#own(this.#sendOffsets, offset);
      const frame = this.#maker.make(this.#next);
      // A frame may start anywhere in its memory.
      const start = offset + ((this.#next * 37) % 256);
      batch.offsets[row] = start;
      this.#sender.umem.set(frame, start);
      batch.lengths[row] = frame.length;
      numbers.push(this.#next++);
    }
  }

  #own(offsets: Set<number>, offset: number): void {
    const frame = Math.floor(offset / this.#sender.frameSize);
    if (offsets.has(frame)) differs(`frame ${frame} is given out twice`);
    offsets.add(frame);
  }

  #disown(offsets: Set<number>, offset: number): void {
    if (!offsets.delete(Math.floor(offset / this.#sender.frameSize))) differs('a frame is given back that was not out');
  }

  #transmit(slot: number): void {
    const batch = this.#acquired[slot]!;
    const numbers = this.#numbers[slot]!;
    const offsets = Array.from(batch.offsets.subarray(0, batch.count));
    const count = this.#sender.transmit(batch);
    if (batch.count !== offsets.length - count) differs(`${count} sent of ${offsets.length}, ${batch.count} left`);
    for (const offset of offsets.slice(0, count)) this.#disown(this.#sendOffsets, offset);
    const rest = Array.from(batch.offsets.subarray(0, batch.count));
    if (rest.join() !== offsets.slice(count).join()) differs('the rows left are not those that were not sent');
    for (const number of numbers.splice(0, count)) this.#expected.set(number, this.#sent++);
  }

  #receive(slot: number): void {
    const batch = this.#received[slot]!;
    if (batch.count > 0) return;
    const count = this.#receiver.receive(batch);
    if (count !== batch.count) differs(`${count} frames received, the batch has ${batch.count}`);
    for (let row = 0; row < count; row++) {
      const offset = batch.offsets[row]!;
      this.#own(this.#receiveOffsets, offset);
      const frame = Buffer.from(this.#receiver.umem.subarray(offset, offset + batch.lengths[row]!));
      const number = this.#maker.indexOf(frame);
      if (!this.#maker.isFrame(number, frame)) differs('a frame is not as it was sent');
      // What the kernel had no memory for is missing, but what there is comes once, and from the driver in order.
      const place = this.#expected.get(number);
      if (place === undefined) differs(`frame ${number} came twice or was never sent`);
      if (place < this.#last && this.#sequence.mode === 'driver') differs(`frame ${number} came out of order`);
      this.#last = place;
      this.#expected.delete(number);
      this.#got++;
    }
  }

  #release(slot: number): void {
    const batch = this.#received[slot]!;
    for (let row = 0; row < batch.count; row++) this.#disown(this.#receiveOffsets, batch.offsets[row]!);
    this.#receiver.release(batch);
    if (batch.count !== 0) differs('the batch is not empty after release');
  }

  #spoil(slot: number, what: Spoiling, wantedRow: number, value: number): void {
    const isReceived = what.startsWith('received');
    const batch = (isReceived ? this.#received : this.#acquired)[slot]!;
    if (batch.count === 0) return;
    const row = wantedRow % batch.count;
    const before = { count: batch.count, offsets: batch.offsets.slice(), lengths: batch.lengths.slice() };
    if (what.endsWith('count')) {
      // A count of less is no mistake where frames are sent: the others go back unsent.
      batch.count = isReceived || value < 0 || !Number.isInteger(value) ? value : before.count + 1 + value;
    } else if (what === 'acquired length') {
      batch.lengths[row] = value < 14 ? value : Math.min(value + this.#sender.frameSize, 0xffff_ffff);
    } else {
      batch.offsets[row] = value;
      const frame = Math.floor(value / this.#sender.frameSize);
      // Any place in the right frame is good, and so is the place of a frame that does not come twice.
      const offsets = isReceived ? this.#receiveOffsets : this.#sendOffsets;
      if (offsets.has(frame) && !this.#isInRow(before.offsets, before.count, row, frame))
        batch.offsets[row] = 0xffff_ffff;
    }
    const isSame =
      batch.count === before.count &&
      batch.offsets[row] === before.offsets[row] &&
      batch.lengths[row] === before.lengths[row];
    if (!isSame && !this.#isHarmless(what, before.offsets[row]!, batch.offsets[row]!)) {
      const refusal = this.#refusal(() => (isReceived ? this.#receiver.release(batch) : this.#sender.transmit(batch)));
      if (refusal !== 'RangeError') differs(`${what} ${value} in row ${row} of ${before.count} came to ${refusal}`);
    }
    batch.count = before.count;
    batch.offsets.set(before.offsets);
    batch.lengths.set(before.lengths);
  }

  /** Whether another row of the batch is this frame: then it is there twice. */
  #isInRow(offsets: Uint32Array, count: number, but: number, frame: number): boolean {
    const at = offsets.subarray(0, count).findIndex((offset) => Math.floor(offset / this.#sender.frameSize) === frame);
    return at !== -1 && at !== but;
  }

  /** Another place in the same frame. */
  #isHarmless(what: Spoiling, before: number, after: number): boolean {
    const { frameSize } = this.#sender;
    return what.endsWith('offset') && Math.floor(before / frameSize) === Math.floor(after / frameSize);
  }

  #refusal(action: () => unknown): string {
    try {
      return `a result: ${action()}`;
    } catch (error) {
      return error instanceof Error ? error.name : 'no error';
    }
  }

  /** Everything comes back: what was acquired is sent, what was sent arrives or is counted as dropped. */
  async finish(): Promise<{ sent: number; received: number }> {
    const since = Date.now();
    const hasPatience = (): boolean => Date.now() - since < PATIENCE_MS;
    for (let slot = 0; slot < SLOTS; slot++) {
      while (this.#acquired[slot]!.count > 0 && hasPatience()) {
        this.#transmit(slot);
        await this.#sender.flush(50);
        this.#drainReceiver();
      }
    }
    if (!(await this.#sender.flush(PATIENCE_MS))) differs(`${this.#sender.pending} frames stay pending`);
    for (;;) {
      this.#drainReceiver();
      const { rxDropped, rxRingFull } = this.#receiver.stats().kernel;
      if (this.#got + rxDropped + rxRingFull === this.#sent) break;
      if (!hasPatience()) differs(`${this.#sent} sent, ${this.#got} received, ${rxDropped} + ${rxRingFull} dropped`);
      await sleep(1);
    }
    const all = new XdpBatch(this.#sequence.txFrames);
    const free = this.#sender.acquire(all, this.#sequence.txFrames);
    if (free !== this.#sequence.txFrames) differs(`${free} frames to send with are left of ${this.#sequence.txFrames}`);
    const { received, released } = this.#receiver.stats();
    const { sent, completed } = this.#sender.stats();
    if (received !== this.#got || released !== received) differs(`${received} received, ${released} released`);
    if (sent !== this.#sent || completed !== sent) differs(`${sent} sent, ${completed} completed`);
    return { sent: this.#sent, received: this.#got };
  }

  #drainReceiver(): void {
    for (let slot = 0; slot < SLOTS; slot++) {
      this.#receive(slot);
      this.#release(slot);
    }
  }
}

const handlers = {
  /** @throws Error where the model says otherwise */
  async run(from: string, to: string, sequence: Sequence): Promise<{ sent: number; received: number }> {
    const { mode, frames, txFrames } = sequence;
    const receiver = await XdpSocket.open({ interface: to, mode, frames });
    let sender: XdpSocket | null = null;
    try {
      sender = await XdpSocket.open({ interface: from, ports: [], frames: 2, txFrames });
      const run = new Run(sender, receiver, sequence);
      for (const step of sequence.steps) await run.step(step);
      return await run.finish();
    } finally {
      sender?.close();
      receiver.close();
    }
  },
};

export type Model = typeof handlers;
serve(handlers);
