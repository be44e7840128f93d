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

  /** Begins the next window. */
  clear(): void {
    this.counts = new SwitchCounts();
    this.late = 0;
  }

  override pass(fields: ByteFields): void {
    this.late = fields.number(this.late);
    this.counts.pass(fields);
  }
}
