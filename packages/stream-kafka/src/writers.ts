import type { Watermark } from '@int/sink-kafka';
import { PROCESS_CODES, ProcessError } from './errors.js';

/** How long windows wait for writers that are silent. */
export interface WriterLimits {
  /** A writer that was silent for so long is not waited for any more, milliseconds. */
  readonly waitMs: number;
  /** For so long after that windows count as not complete, unless it is heard again, milliseconds. */
  readonly forgetMs: number;
}

interface Writer {
  readonly high: number;
  readonly low: number;
  /** All reports with an earlier time have come. */
  lowMs: number;
  clockMs: number;
  dropped: number;
  /** It says how far it is; otherwise its latest report does. */
  speaks: boolean;
  /** Silent for too long. */
  isLost: boolean;
  /** {@link Writers} `#active` when it was heard last. */
  heardAt: number;
}

/** Where reports may be missing, in milliseconds. */
export interface MissingSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Writers remembered; of more, the one that was silent for longest is forgotten. */
const MOST = 1024;
/** More than that a step of a clock does not count as time in which others were silent. */
const MOST_STEP_MS = 5000;
/** After so many words of another writer the one whose clock counts is another. */
const WITNESS_WORDS = 8;
const WRITER_BYTES = 41;
const HEADER_BYTES = 24;

/**
 * The writers of a partition's reports, which are the instances of sinks, and up to when all have confirmed that their
 * reports are there: the time that the partition has reached.
 *
 * A writer that is silent holds time back until `waitMs` have passed in which others were heard, by the clock of one of them, or
 * in which the partition was read to its end and nobody was heard. It is lost then: windows go on without it, and
 * are not complete for `forgetMs`. All of this follows from the log alone, but for a log in which nothing happens.
 */
export class Writers {
  readonly #limits: WriterLimits;
  /** What a window may be longer than time has come, so that it is closed when nobody is left to wait for. */
  readonly #closingMs: number;
  readonly #writers = new Map<string, Writer>();
  #last: Writer | null = null;
  /** Whose clock counts, and how often each other one was heard since. */
  #witness: Writer | null = null;
  readonly #words = new Map<Writer, number>();
  /** Time in which somebody was heard, by the witness's clock. */
  #active = 0;
  /** Time in which the end was reached and nobody was heard. */
  #quiet = 0;
  #newestMs = Number.NEGATIVE_INFINITY;
  #timeMs = Number.NEGATIVE_INFINITY;
  #missing: MissingSpan[] = [];
  #hasGap = false;
  #isDirty = false;

  constructor(limits: WriterLimits, closingMs: number) {
    this.#limits = limits;
    this.#closingMs = closingMs;
  }

  /** The time reached, milliseconds; -Infinity: none yet. It does not go back. */
  get timeMs(): number {
    return this.#timeMs;
  }

  /** How far the time reached is behind the furthest that any writer has told of, milliseconds. */
  get behindMs(): number {
    return this.#timeMs === Number.NEGATIVE_INFINITY ? 0 : Math.max(0, this.#newestMs - this.#timeMs);
  }

  /** The writer that holds time back or was lost, and for how long it has been silent, milliseconds; `null`: there is none. */
  get waitingFor(): { readonly instance: string; readonly silentMs: number; readonly isLost: boolean } | null {
    let found: Writer | null = null;
    for (const writer of this.#writers.values()) {
      if (found === null || writer.lowMs < found.lowMs) found = writer;
    }
    if (found === null) return null;
    const hex = (word: number): string => word.toString(16).padStart(8, '0');
    return { instance: hex(found.high) + hex(found.low), silentMs: this.#silence(found), isLost: found.isLost };
  }

  /** A report has come. @returns whether its time is what its writer says of how far it is */
  report(high: number, low: number, timeMs: number): boolean {
    const last = this.#last;
    const writer = last !== null && last.high === high && last.low === low ? last : this.#writerOf(high, low, timeMs);
    this.#last = writer;
    if (writer.speaks) return false;
    if (timeMs > this.#newestMs) this.#newestMs = timeMs;
    this.#heard(writer, timeMs);
    if (timeMs > writer.lowMs) writer.lowMs = timeMs;
    return true;
  }

  /** A writer has told how far it is. */
  watermark(watermark: Watermark): void {
    const { instanceHigh, instanceLow, timeMs, clockMs, dropped, ended } = watermark;
    const writer = this.#writerOf(instanceHigh, instanceLow, timeMs);
    this.#heard(writer, clockMs);
    // Nobody knows when one that is new has begun.
    const fromMs = writer.speaks ? writer.lowMs : 0;
    if (dropped > writer.dropped) this.#missing.push({ fromMs, toMs: clockMs + 1 });
    writer.dropped = dropped;
    writer.speaks = true;
    writer.lowMs = timeMs;
    if (clockMs > this.#newestMs) this.#newestMs = clockMs;
    if (ended) this.#forget(writer);
    this.#loseSilent();
    if (ended && this.#writers.size === 0) this.#reach(this.#newestMs + this.#closingMs);
  }

  /** Nothing has come for so long, and the partition is read to its end. */
  quiet(elapsedMs: number): void {
    this.#quiet += elapsedMs;
    this.#loseSilent();
  }

  /** Reports were deleted before they were read: nobody knows of which time, until others come behind them. */
  gap(): void {
    this.#hasGap = true;
  }

  /** They write elsewhere from now on, and nobody knows what they have written here that was not read. */
  end(): void {
    if (this.#writers.size === 0) return;
    this.#missing.push({ fromMs: Math.max(0, this.#timeMs), toMs: this.#newestMs + 1 });
    for (const writer of [...this.#writers.values()]) this.#forget(writer);
    this.#hasGap = false;
    this.#isDirty = true;
    this.#reach(this.#newestMs + this.#closingMs);
  }

  /** Moves the time on to what the writers have told. @returns where reports may be missing, which is to be told before the time */
  settle(): MissingSpan[] {
    let low = Number.POSITIVE_INFINITY;
    let lost = Number.POSITIVE_INFINITY;
    for (const { lowMs, isLost } of this.#writers.values()) {
      if (isLost) lost = Math.min(lost, lowMs);
      else low = Math.min(low, lowMs);
    }
    if (low < Number.POSITIVE_INFINITY) this.#reach(low);
    const missing = this.#missing;
    this.#missing = [];
    if (lost < this.#timeMs) missing.push({ fromMs: lost, toMs: this.#timeMs });
    return missing;
  }

  #reach(timeMs: number): void {
    if (timeMs > this.#timeMs) this.#timeMs = timeMs;
  }

  #writerOf(high: number, low: number, timeMs: number): Writer {
    const name = `${high} ${low}`;
    let writer = this.#writers.get(name);
    if (writer === undefined) {
      const heardAt = this.#active;
      writer = { high, low, lowMs: timeMs, clockMs: timeMs, dropped: 0, speaks: false, isLost: false, heardAt };
      this.#writers.set(name, writer);
      this.#isDirty = true;
      if (this.#writers.size > MOST) this.#forgetSilent();
    }
    return writer;
  }

  #heard(writer: Writer, clockMs: number): void {
    this.#isDirty = true;
    if (this.#witness === writer) {
      // Two measures of the same time.
      const step = Math.min(MOST_STEP_MS, Math.max(0, clockMs - writer.clockMs));
      this.#active += Math.max(step, this.#quiet);
      this.#quiet = 0;
      if (this.#words.size > 0) this.#words.clear();
    } else {
      const words = (this.#words.get(writer) ?? 0) + 1;
      this.#words.set(writer, words);
      if (this.#witness === null || words >= WITNESS_WORDS) {
        this.#witness = writer;
        this.#active += this.#quiet;
        this.#quiet = 0;
        this.#words.clear();
      }
    }
    if (this.#hasGap) {
      this.#missing.push({ fromMs: Math.max(0, this.#timeMs), toMs: clockMs });
      this.#hasGap = false;
    }
    writer.clockMs = clockMs;
    writer.heardAt = this.#active + this.#quiet;
    writer.isLost = false;
  }

  #silence(writer: Writer): number {
    return this.#active - writer.heardAt + this.#quiet;
  }

  #loseSilent(): void {
    const { waitMs, forgetMs } = this.#limits;
    let isEmpty = true;
    let isSilent = false;
    for (const writer of this.#writers.values()) {
      const silence = this.#silence(writer);
      if (silence < waitMs) {
        isEmpty = false;
        continue;
      }
      isSilent = true;
      this.#isDirty = true;
      // One that never said how far it was has nothing to be missed by.
      if (!writer.speaks || silence >= waitMs + forgetMs) this.#forget(writer);
      else writer.isLost = true;
    }
    // Nobody is left to wait for.
    if (isEmpty && isSilent) this.#reach(this.#newestMs + this.#closingMs);
  }

  #forget(writer: Writer): void {
    this.#writers.delete(`${writer.high} ${writer.low}`);
    this.#words.delete(writer);
    if (this.#witness === writer) this.#witness = null;
    if (this.#last === writer) this.#last = null;
  }

  #forgetSilent(): void {
    let silent: Writer | null = null;
    for (const writer of this.#writers.values()) {
      if (silent === null || this.#silence(writer) > this.#silence(silent)) silent = writer;
    }
    if (silent === null) return;
    if (silent.speaks) this.#missing.push({ fromMs: silent.lowMs, toMs: Math.max(this.#newestMs, silent.lowMs) });
    this.#forget(silent);
  }

  /** All of it as bytes, if it has changed since the last call; otherwise `null`. */
  changed(): Uint8Array | null {
    if (!this.#isDirty) return null;
    this.#isDirty = false;
    const bytes = new Uint8Array(HEADER_BYTES + this.#writers.size * WRITER_BYTES);
    const view = new DataView(bytes.buffer);
    view.setFloat64(0, this.#active + this.#quiet);
    view.setFloat64(8, this.#newestMs);
    view.setFloat64(16, this.#timeMs);
    let at = HEADER_BYTES;
    for (const writer of this.#writers.values()) {
      view.setUint32(at, writer.high);
      view.setUint32(at + 4, writer.low);
      view.setFloat64(at + 8, writer.lowMs);
      view.setFloat64(at + 16, writer.clockMs);
      view.setFloat64(at + 24, writer.dropped);
      view.setFloat64(at + 32, writer.heardAt);
      view.setUint8(at + 40, (writer.speaks ? 1 : 0) | (writer.isLost ? 2 : 0) | (writer === this.#witness ? 4 : 0));
      at += WRITER_BYTES;
    }
    return bytes;
  }

  /** Puts back what {@link changed} gave. @throws ProcessError `ERR_PROCESS_STATE` for anything else */
  restore(bytes: Uint8Array): void {
    if (bytes.length < HEADER_BYTES || (bytes.length - HEADER_BYTES) % WRITER_BYTES !== 0) {
      throw new ProcessError(PROCESS_CODES.STATE, `state: ${bytes.length} bytes for the writers of a partition`);
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#active = view.getFloat64(0);
    this.#newestMs = view.getFloat64(8);
    this.#timeMs = view.getFloat64(16);
    for (let at = HEADER_BYTES; at < bytes.length; at += WRITER_BYTES) {
      const [high, low] = [view.getUint32(at), view.getUint32(at + 4)];
      const flags = view.getUint8(at + 40);
      const writer: Writer = {
        high,
        low,
        lowMs: view.getFloat64(at + 8),
        clockMs: view.getFloat64(at + 16),
        dropped: view.getFloat64(at + 24),
        heardAt: view.getFloat64(at + 32),
        speaks: (flags & 1) !== 0,
        isLost: (flags & 2) !== 0,
      };
      this.#writers.set(`${high} ${low}`, writer);
      if ((flags & 4) !== 0) this.#witness = writer;
    }
  }
}
