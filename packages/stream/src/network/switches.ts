import type { PartialSwitch } from '../model/partial.js';
import type { ByteFields } from '../partial/fields.js';
import { SwitchCounts } from './counts.js';
import { Entry } from './registry.js';

/** A switch: when it was seen, and its counts in the open window. */
export class SwitchEntry extends Entry {
  /** Counts of the open window. */
  counts = new SwitchCounts();
  /** Reports of earlier windows, which the open window counts as `late`. */
  late = 0;

  merge(part: PartialSwitch, slice: number): void {
    this.lastSlice = Math.max(this.lastSlice, slice);
    this.counts.merge(part);
  }

  /** Whether the open window has anything to show. */
  get isUsed(): boolean {
    return this.counts.reports + this.late > 0;
  }

  /** Begins the next window. @returns whether this changes anything */
  clear(): boolean {
    const { isUsed } = this;
    this.counts = new SwitchCounts();
    this.late = 0;
    return isUsed;
  }

  override pass(fields: ByteFields): void {
    this.late = fields.number(this.late);
    this.counts.pass(fields);
  }
}
