import type { PartialSwitch } from '../model/partial.js';
import type { SwitchWindow } from '../model/window.js';
import type { ByteReader } from '../partial/reader.js';
import type { ByteWriter } from '../partial/writer.js';
import { BUCKETS, quantile } from '../slice/buckets.js';
import type { Entry } from './registry.js';

/** What is known of a switch: when it was seen, and its part in the window that is open. */
export class SwitchEntry implements Entry {
  readonly words: readonly number[];
  lastSlice = 0;
  lastSeenUs = 0;
  /** Of the open window. */
  reports = 0;
  #count = 0;
  #sum = 0;
  #min = 0;
  #max = 0;
  /** Counts by bucket; none until there is a latency. */
  #buckets: number[] = [];

  constructor(words: readonly number[]) {
    this.words = words;
  }

  merge(part: PartialSwitch, slice: number): void {
    this.lastSlice = slice;
    this.lastSeenUs = Math.max(this.lastSeenUs, part.lastSeenUs);
    this.reports += part.reports;
    if (part.count === 0) return;
    if (this.#count === 0) this.#buckets = new Array<number>(BUCKETS).fill(0);
    this.#min = this.#count === 0 ? part.min : Math.min(this.#min, part.min);
    this.#max = Math.max(this.#max, part.max);
    this.#count += part.count;
    this.#sum += part.sum;
    for (let at = 0; at < part.buckets.length; at += 2) this.#buckets[part.buckets[at]!]! += part.buckets[at + 1]!;
  }

  latency(): SwitchWindow['latency'] {
    const count = this.#count;
    const min = this.#min;
    const max = this.#max;
    if (count === 0) return null;
    const of = (share: number): number => quantile(this.#buckets, count, share, min, max);
    return { count, sum: this.#sum, min, max, p50: of(0.5), p90: of(0.9), p99: of(0.99) };
  }

  /** The next window begins. */
  clear(): void {
    this.reports = 0;
    this.#count = 0;
    this.#sum = 0;
    this.#min = 0;
    this.#max = 0;
    this.#buckets = [];
  }

  write(writer: ByteWriter): void {
    writer.number(this.lastSeenUs);
    writer.number(this.reports);
    writer.number(this.#count);
    if (this.#count === 0) return;
    writer.number(this.#sum);
    writer.number(this.#min);
    writer.number(this.#max);
    for (const count of this.#buckets) writer.number(count);
  }

  read(reader: ByteReader): void {
    this.lastSeenUs = reader.number();
    this.reports = reader.number();
    this.#count = reader.number();
    if (this.#count === 0) return;
    this.#sum = reader.number();
    this.#min = reader.number();
    this.#max = reader.number();
    this.#buckets = Array.from({ length: BUCKETS }, () => reader.number());
  }
}
