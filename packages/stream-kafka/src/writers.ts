import type { Watermark } from '@int/sink-kafka';
import { PROCESS_CODES, ProcessError } from './errors.js';
import type { ProcessorOptions } from './processor.js';

/** Limits of waiting for silent writers, as in the options of a `Processor`. */
export type WriterLimits = Required<Pick<ProcessorOptions, 'waitMs' | 'forgetMs'>>;

interface Writer {
  readonly high: number;
  readonly low: number;
  /** All reports before this time have come. */
  lowMs: number;
  clockMs: number;
  dropped: number;
  /** Whether it writes watermarks; otherwise its latest report gives its progress. */
  speaks: boolean;
  /** Whether it was silent for too long. */
  isLost: boolean;
  /** `#active` of {@link Writers} at its last message. */
  heardAt: number;
}

/** A span of time in which reports may be missing, in milliseconds. */
export interface MissingSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Most writers remembered; beyond it, the one silent for longest is forgotten. */
const MOST = 1024;
/** Largest step of a clock that counts as silence of the others. */
const MOST_STEP_MS = 5000;
/** Messages of another writer after which it becomes the witness. */
const WITNESS_WORDS = 8;
const WRITER_BYTES = 41;
const HEADER_BYTES = 24;

/**
 * The writers of a partition's reports: instances of sinks. The time that the partition has reached is the time up to
 * which all writers have confirmed their reports.
 *
 * A silent writer holds time back for `waitMs`. This wait counts time in which other writers are active, by the clock
 * of one of them (the witness), or in which the partition is read to its end and no writer is active. Then the writer
 * is lost: windows continue without it, and are incomplete for `forgetMs`. All of this depends only on the log, except
 * while the log has no new records.
 */
export class Writers {
  readonly #limits: WriterLimits;
  /** Time added to the newest, so that all windows close when no writer is left to wait for. */
  readonly #closingMs: number;
  readonly #writers = new Map<string, Writer>();
  #last: Writer | null = null;
  /** The writer whose clock counts. */
  #witness: Writer | null = null;
  readonly #words = new Map<Writer, number>();
  /** Time in which writers were active, by the witness's clock. */
  #active = 0;
  /** Time at the end of the partition in which no writer was active. */
  #quiet = 0;
  #newestMs = Number.NEGATIVE_INFINITY;
  /** The time reached, in milliseconds; initially -Infinity. It never goes back. */
  timeMs = Number.NEGATIVE_INFINITY;
  #missing: MissingSpan[] = [];
  #hasGap = false;
  #isDirty = false;

  constructor(limits: WriterLimits, closingMs: number) {
    this.#limits = limits;
    this.#closingMs = closingMs;
  }

  /** Lag of the time reached behind the latest time of any writer, in milliseconds. */
  get behindMs(): number {
    return this.timeMs === Number.NEGATIVE_INFINITY ? 0 : Math.max(0, this.#newestMs - this.timeMs);
  }

  /** The writer that holds time back or is lost, with its silence in milliseconds; `null` if there is none. */
  get waitingFor(): { readonly instance: string; readonly silentMs: number; readonly isLost: boolean } | null {
    const [found] = [...this.#writers.values()].sort((a, b) => a.lowMs - b.lowMs);
    if (found === undefined) return null;
    const hex = (word: number): string => word.toString(16).padStart(8, '0');
    return { instance: hex(found.high) + hex(found.low), silentMs: this.#silence(found), isLost: found.isLost };
  }

  /**
   * Takes the time of a report.
   * @returns whether it determines its writer's progress, because the writer writes no watermarks
   */
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

  /** Takes a watermark of a writer. */
  watermark(watermark: Watermark): void {
    const { instanceHigh, instanceLow, timeMs, clockMs, dropped, ended } = watermark;
    const writer = this.#writerOf(instanceHigh, instanceLow, timeMs);
    this.#heard(writer, clockMs);
    // The begin of a new writer is unknown.
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

  /** Call it if the partition is read to its end and nothing has come for `elapsedMs` milliseconds. */
  quiet(elapsedMs: number): void {
    this.#quiet += elapsedMs;
    this.#loseSilent();
  }

  /** Call it if reports were deleted before they were read. Their times are unknown until later reports come. */
  gap(): void {
    this.#hasGap = true;
  }

  /**
   * Call it when the partition has ended. The writers now write elsewhere; it is unknown whether reports here were not
   * read.
   */
  end(): void {
    if (this.#writers.size === 0) return;
    this.#missing.push({ fromMs: Math.max(0, this.timeMs), toMs: this.#newestMs + 1 });
    for (const writer of [...this.#writers.values()]) this.#forget(writer);
    this.#hasGap = false;
    this.#isDirty = true;
    this.#reach(this.#newestMs + this.#closingMs);
  }

  /**
   * Advances the time to the writers' confirmations.
   * @returns spans in which reports may be missing; report them before the time
   */
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
    if (lost < this.timeMs) missing.push({ fromMs: lost, toMs: this.timeMs });
    return missing;
  }

  #reach(timeMs: number): void {
    if (timeMs > this.timeMs) this.timeMs = timeMs;
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
      // Both measure the same time.
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
      this.#missing.push({ fromMs: Math.max(0, this.timeMs), toMs: clockMs });
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
      // A writer without watermarks cannot be missed.
      if (!writer.speaks || silence >= waitMs + forgetMs) this.#forget(writer);
      else writer.isLost = true;
    }
    // No writer is left to wait for.
    if (isEmpty && isSilent) this.#reach(this.#newestMs + this.#closingMs);
  }

  #forget(writer: Writer): void {
    this.#writers.delete(`${writer.high} ${writer.low}`);
    this.#words.delete(writer);
    if (this.#witness === writer) this.#witness = null;
    if (this.#last === writer) this.#last = null;
  }

  #forgetSilent(): void {
    const [silent] = [...this.#writers.values()].sort((a, b) => a.heardAt - b.heardAt);
    if (silent === undefined) return;
    if (silent.speaks) this.#missing.push({ fromMs: silent.lowMs, toMs: Math.max(this.#newestMs, silent.lowMs) });
    this.#forget(silent);
  }

  /** The whole state as bytes, if it has changed since the last call; otherwise `null`. */
  changed(): Uint8Array | null {
    if (!this.#isDirty) return null;
    this.#isDirty = false;
    const bytes = new Uint8Array(HEADER_BYTES + this.#writers.size * WRITER_BYTES);
    const view = new DataView(bytes.buffer);
    view.setFloat64(0, this.#active + this.#quiet);
    view.setFloat64(8, this.#newestMs);
    view.setFloat64(16, this.timeMs);
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

  /** Restores bytes of {@link changed}. @throws ProcessError `ERR_PROCESS_STATE` for any others */
  restore(bytes: Uint8Array): void {
    if (bytes.length < HEADER_BYTES || (bytes.length - HEADER_BYTES) % WRITER_BYTES !== 0) {
      throw new ProcessError(PROCESS_CODES.STATE, `state: ${bytes.length} bytes for the writers of a partition`);
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#active = view.getFloat64(0);
    this.#newestMs = view.getFloat64(8);
    this.timeMs = view.getFloat64(16);
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
