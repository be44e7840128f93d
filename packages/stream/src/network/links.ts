import type { PartialLink } from '../model/partial.js';
import type { ByteFields } from '../partial/fields.js';
import { RECENT_FLOWS, RecentFlows } from '../slice/recent-flows.js';
import { LinkCounts } from './counts.js';
import { Entry } from './registry.js';

/** A link from one switch to another: its traffic and its silence. */
export class LinkEntry extends Entry {
  lastSeenUs = 0;
  /** Counts of the open window. */
  counts = new LinkCounts();
  /** Packets of earlier windows, which the open window counts as `late`. */
  late = 0;
  /** Number of slices since the link was last seen, in which both its ends were seen. */
  silentSlices = 0;
  /** `lastSeenUs` when its failure was reported; -1 if it has not failed. */
  failedUs = -1;
  readonly #recent = new RecentFlows(1);

  merge(part: PartialLink, slice: number): void {
    this.lastSlice = Math.max(this.lastSlice, slice);
    this.lastSeenUs = Math.max(this.lastSeenUs, part.lastSeenUs);
    this.counts.merge(part);
    this.silentSlices = 0;
    for (let at = 0; at < part.flows.length; at += 2) this.#recent.note(0, part.flows[at]!, part.flows[at + 1]!);
  }

  /** The number of flows seen since a time, counted up to 8. */
  flowsSince(timeUs: number): number {
    const { counts, timesUs } = this.#recent;
    let count = 0;
    while (count < counts[0]! && timesUs[count]! >= timeUs) count++;
    return count;
  }

  /** Whether the open window has anything to show. */
  get isUsed(): boolean {
    return this.counts.packets + this.late > 0;
  }

  /** Begins the next window. @returns whether this changes anything */
  clear(): boolean {
    const { isUsed } = this;
    this.counts = new LinkCounts();
    this.late = 0;
    return isUsed;
  }

  override pass(fields: ByteFields): void {
    this.lastSeenUs = fields.number(this.lastSeenUs);
    this.late = fields.number(this.late);
    this.counts.pass(fields);
    this.silentSlices = fields.number(this.silentSlices);
    this.failedUs = fields.signed(this.failedUs);
    const before = this.#recent.read(0);
    const recent = fields.between(0, RECENT_FLOWS, 'flows', before.length / 2);
    for (let at = 0; at < 2 * recent; at += 2) {
      this.#recent.note(0, fields.word(before[at]), fields.number(before[at + 1]));
    }
  }
}
