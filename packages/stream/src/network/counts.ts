/** The contents of network windows: sums to which partials are added. */
import type { PartialLink, PartialQueue, PartialSwitch } from '../model/partial.js';
import type { Summary, SwitchWindow } from '../model/window.js';
import { type ByteFields, listOf } from '../partial/fields.js';
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

  pass(fields: ByteFields): void {
    this.count = fields.number(this.count);
    if (this.count === 0) return;
    this.sum = fields.number(this.sum);
    this.min = fields.number(this.min);
    this.max = fields.number(this.max);
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

  pass(fields: ByteFields): void {
    this.reports = fields.number(this.reports);
    this.lastSeenUs = fields.number(this.lastSeenUs);
    this.#latency.pass(fields);
    if (this.#latency.count > 0) this.#buckets = listOf(BUCKETS, this.#buckets, (count) => fields.number(count));
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

  pass(fields: ByteFields): void {
    this.packets = fields.number(this.packets);
    this.flows = fields.number(this.flows);
    this.lastSeenUs = fields.number(this.lastSeenUs);
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

  pass(fields: ByteFields): void {
    this.congested = fields.number(this.congested);
    this.#occupancy.pass(fields);
  }
}
