import { NOT_AVAILABLE } from '@int/codec';
import type { FlowHop, Summary } from '../model/window.js';
import type { ByteReader } from '../partial/reader.js';
import type { ByteWriter } from '../partial/writer.js';
import { Summaries } from '../slice/summaries.js';

const NONE = -1;
/** Two windows are open at a time: the next one begins before the last reports of this one have come. */
const BANKS = 2;

/** What flows met in the windows that are open. */
export class FlowWindows {
  readonly #slots: number;
  /** Number of the window in each bank; -1: none. */
  readonly #window: Float64Array;
  readonly #reports: Float64Array;
  readonly #drops: Float64Array;
  readonly #changes: Float64Array;
  readonly #beyond: Float64Array;
  readonly #used: Uint8Array;
  readonly #endToEnd: Summaries;
  readonly #nodes: Uint32Array;
  /** Two rows for each switch: latency and queue occupancy. */
  readonly #values: Summaries;
  readonly #congested: Float64Array;

  /** @param slots switches a flow has statistics of in a window */
  constructor(flows: number, slots: number) {
    const banks = flows * BANKS;
    this.#slots = slots;
    this.#window = new Float64Array(banks).fill(NONE);
    this.#reports = new Float64Array(banks);
    this.#drops = new Float64Array(banks);
    this.#changes = new Float64Array(banks);
    this.#beyond = new Float64Array(banks);
    this.#used = new Uint8Array(banks);
    this.#endToEnd = new Summaries(banks);
    this.#nodes = new Uint32Array(banks * slots);
    this.#values = new Summaries(2 * banks * slots);
    this.#congested = new Float64Array(banks * slots);
  }

  reset(row: number): void {
    for (let bank = 0; bank < BANKS; bank++) this.#window[row * BANKS + bank] = NONE;
  }

  /** The bank of a flow's window, which is open. */
  bankOf(row: number, window: number): number {
    const bank = row * BANKS + (window % BANKS);
    if (this.#window[bank] !== window) this.#begin(bank, window);
    return bank;
  }

  /** The bank of a flow's window, if it has one; else -1. */
  find(row: number, window: number): number {
    const bank = row * BANKS + (window % BANKS);
    return this.#window[bank] === window ? bank : NONE;
  }

  #begin(bank: number, window: number): void {
    this.#window[bank] = window;
    this.#reports[bank] = 0;
    this.#drops[bank] = 0;
    this.#changes[bank] = 0;
    this.#beyond[bank] = 0;
    this.#used[bank] = 0;
    this.#endToEnd.reset(bank);
  }

  report(bank: number, isDrop: boolean): void {
    this.#reports[bank]!++;
    if (isDrop) this.#drops[bank]!++;
  }

  pathChange(bank: number): void {
    this.#changes[bank]!++;
  }

  /** @param latency a sum of latencies; it saturates at 2^32 - 1 */
  endToEnd(bank: number, latency: number): void {
    this.#endToEnd.add(bank, Math.min(latency, 0xffffffff));
  }

  /**
   * What a flow met at one switch.
   * @param guess where it is likely to be: its position on the path
   * @param latency all ones if not known
   * @param occupancy likewise
   */
  hop(bank: number, guess: number, nodeId: number, latency: number, occupancy: number, isCongested: boolean): void {
    const slot = this.#slotOf(bank, guess, nodeId);
    if (slot < 0) {
      this.#beyond[bank]!++;
      return;
    }
    if (latency !== NOT_AVAILABLE) this.#values.add(2 * slot, latency);
    if (occupancy !== NOT_AVAILABLE) this.#values.add(2 * slot + 1, occupancy);
    if (isCongested) this.#congested[slot]!++;
  }

  #slotOf(bank: number, guess: number, nodeId: number): number {
    const nodes = this.#nodes;
    const start = bank * this.#slots;
    const used = this.#used[bank]!;
    if (guess < used && nodes[start + guess] === nodeId) return start + guess;
    for (let slot = start; slot < start + used; slot++) if (nodes[slot] === nodeId) return slot;
    if (used === this.#slots) return NONE;
    this.#used[bank] = used + 1;
    const slot = start + used;
    nodes[slot] = nodeId;
    this.#values.reset(2 * slot);
    this.#values.reset(2 * slot + 1);
    this.#congested[slot] = 0;
    return slot;
  }

  /** What a bank holds, in objects; the bank is free then. */
  take(bank: number): {
    reports: number;
    drops: number;
    pathChanges: number;
    hops: FlowHop[];
    hopsBeyond: number;
    endToEnd: Summary | null;
  } {
    this.#window[bank] = NONE;
    const start = bank * this.#slots;
    const hops: FlowHop[] = [];
    for (let slot = start; slot < start + this.#used[bank]!; slot++) {
      const nodeId = this.#nodes[slot]!;
      hops.push({
        nodeId: nodeId === NOT_AVAILABLE ? null : nodeId,
        latency: this.#summary(this.#values, 2 * slot),
        queueOccupancy: this.#summary(this.#values, 2 * slot + 1),
        congested: this.#congested[slot]!,
      });
    }
    return {
      reports: this.#reports[bank]!,
      drops: this.#drops[bank]!,
      pathChanges: this.#changes[bank]!,
      hops,
      hopsBeyond: this.#beyond[bank]!,
      endToEnd: this.#summary(this.#endToEnd, bank),
    };
  }

  #summary(summaries: Summaries, row: number): Summary | null {
    return summaries.count(row) === 0 ? null : summaries.read(row);
  }

  write(row: number, writer: ByteWriter): void {
    for (let bank = row * BANKS; bank < (row + 1) * BANKS; bank++) {
      writer.signed(this.#window[bank]!);
      if (this.#window[bank] === NONE) continue;
      writer.number(this.#reports[bank]!);
      writer.number(this.#drops[bank]!);
      writer.number(this.#changes[bank]!);
      writer.number(this.#beyond[bank]!);
      this.#endToEnd.write(bank, writer);
      writer.number(this.#used[bank]!);
      const start = bank * this.#slots;
      for (let slot = start; slot < start + this.#used[bank]!; slot++) {
        writer.word(this.#nodes[slot]!);
        this.#values.write(2 * slot, writer);
        this.#values.write(2 * slot + 1, writer);
        writer.number(this.#congested[slot]!);
      }
    }
  }

  read(row: number, reader: ByteReader): void {
    for (let bank = row * BANKS; bank < (row + 1) * BANKS; bank++) {
      const window = reader.signed();
      this.#window[bank] = NONE;
      if (window === NONE) continue;
      if (window % BANKS !== bank % BANKS) reader.fail(`window ${window} in the place of another`);
      this.#begin(bank, window);
      this.#reports[bank] = reader.number();
      this.#drops[bank] = reader.number();
      this.#changes[bank] = reader.number();
      this.#beyond[bank] = reader.number();
      this.#endToEnd.readFrom(bank, reader);
      const used = reader.between(0, this.#slots, 'switches');
      this.#used[bank] = used;
      for (let slot = bank * this.#slots; slot < bank * this.#slots + used; slot++) {
        this.#nodes[slot] = reader.word();
        this.#values.readFrom(2 * slot, reader);
        this.#values.readFrom(2 * slot + 1, reader);
        this.#congested[slot] = reader.number();
      }
    }
  }
}
