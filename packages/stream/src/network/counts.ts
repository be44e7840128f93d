/** The contents of network windows: sums to which partials are added. */
import type { PartialLink, PartialQueue, PartialSwitch } from '../model/partial.js';
import type { Summary, SwitchWindow } from '../model/window.js';
import type { ByteReader } from '../partial/reader.js';
import type { ByteWriter } from '../partial/writer.js';
import { BUCKETS, quantile } from '../slice/buckets.js';

/** Count, sum, minimum and maximum of values. */
class Values {
  count = 0;
  sum = 0;
  min = 0;
  max = 0;

  merge(part: Summary): void {
    if (part.count === 0) return;
    this.min = this.count === 0 ? part.min : Math.min(this.min, part.min);
    this.max = Math.max(this.max, part.max);
    this.count += part.count;
    this.sum += part.sum;
  }

  summary(): Summary | null {
    const { count, sum, min, max } = this;
    return count === 0 ? null : { count, sum, min, max };
  }

  write(writer: ByteWriter): void {
    writer.number(this.count);
    if (this.count === 0) return;
    writer.number(this.sum);
    writer.number(this.min);
    writer.number(this.max);
  }

  read(reader: ByteReader): void {
    this.count = reader.number();
    if (this.count === 0) return;
    this.sum = reader.number();
    this.min = reader.number();
    this.max = reader.number();
  }
}

/** The counts of a switch in one window. */
export class SwitchCounts {
  reports = 0;
  lastSeenUs = 0;
  readonly #latency = new Values();
  /** Counts by bucket; empty before the first latency. */
  #buckets: number[] = [];

  merge(part: PartialSwitch): void {
    this.reports += part.reports;
    this.lastSeenUs = Math.max(this.lastSeenUs, part.lastSeenUs);
    if (part.count === 0) return;
    if (this.#latency.count === 0) this.#buckets = new Array<number>(BUCKETS).fill(0);
    this.#latency.merge(part);
    for (let at = 0; at < part.buckets.length; at += 2) this.#buckets[part.buckets[at]!]! += part.buckets[at + 1]!;
  }

  latency(): SwitchWindow['latency'] {
    const summary = this.#latency.summary();
    if (summary === null) return null;
    const of = (share: number): number => quantile(this.#buckets, summary.count, share, summary.min, summary.max);
    return { ...summary, p50: of(0.5), p90: of(0.9), p99: of(0.99) };
  }

  write(writer: ByteWriter): void {
    writer.number(this.reports);
    writer.number(this.lastSeenUs);
    this.#latency.write(writer);
    if (this.#latency.count > 0) for (const count of this.#buckets) writer.number(count);
  }

  read(reader: ByteReader): void {
    this.reports = reader.number();
    this.lastSeenUs = reader.number();
    this.#latency.read(reader);
    if (this.#latency.count > 0) this.#buckets = Array.from({ length: BUCKETS }, () => reader.number());
  }
}

/** The counts of a link in one window. */
export class LinkCounts {
  packets = 0;
  /** The largest number of flows in one slice. */
  flows = 0;
  lastSeenUs = 0;

  merge(part: PartialLink): void {
    this.packets += part.packets;
    this.lastSeenUs = Math.max(this.lastSeenUs, part.lastSeenUs);
  }

  write(writer: ByteWriter): void {
    writer.number(this.packets);
    writer.number(this.flows);
    writer.number(this.lastSeenUs);
  }

  read(reader: ByteReader): void {
    this.packets = reader.number();
    this.flows = reader.number();
    this.lastSeenUs = reader.number();
  }
}

/** The counts of a queue in one window. */
export class QueueCounts {
  congested = 0;
  readonly #occupancy = new Values();

  get isEmpty(): boolean {
    return this.#occupancy.count === 0 && this.congested === 0;
  }

  occupancy(): Summary | null {
    return this.#occupancy.summary();
  }

  merge(part: PartialQueue): void {
    this.congested += part.congested;
    this.#occupancy.merge(part);
  }

  write(writer: ByteWriter): void {
    writer.number(this.congested);
    this.#occupancy.write(writer);
  }

  read(reader: ByteReader): void {
    this.congested = reader.number();
    this.#occupancy.read(reader);
  }
}
