import type { PartialSwitch } from '../model/partial.js';
import type { ByteReader } from '../partial/reader.js';
import type { ByteWriter } from '../partial/writer.js';
import { SwitchCounts } from './counts.js';
import type { Entry } from './registry.js';

/** What is known of a switch: when it was seen, and its part in the window that is open. */
export class SwitchEntry implements Entry {
  readonly words: readonly number[];
  lastSlice = 0;
  /** Of the open window. */
  counts = new SwitchCounts();
  /** Reports of windows that are over, which come with the open one. */
  late = 0;

  constructor(words: readonly number[]) {
    this.words = words;
  }

  merge(part: PartialSwitch, slice: number): void {
    this.lastSlice = Math.max(this.lastSlice, slice);
    this.counts.merge(part);
  }

  /** The next window begins. */
  clear(): void {
    this.counts = new SwitchCounts();
    this.late = 0;
  }

  write(writer: ByteWriter): void {
    writer.number(this.late);
    this.counts.write(writer);
  }

  read(reader: ByteReader): void {
    this.late = reader.number();
    this.counts.read(reader);
  }
}
