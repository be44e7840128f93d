import { CODES, STATE, type TelemetryBatch } from '@int/codec';
import { HopFields, ReportFields } from './fields.js';

/** What {@link MessageDecoder.decodeInto} returns: codes of the codec's list. */
export const MESSAGE_CODE = {
  OK: CODES.OK,
  /** The value ends before a field does. */
  TRUNCATED: CODES.TRUNCATED,
  /** The value is no report in this format. */
  MALFORMED: CODES.BAD_REPORT_LENGTH,
  /** The batch has no room; nothing was changed. */
  FULL: CODES.BATCH_TOO_SMALL,
} as const;

/** The most hop rows of a report. */
const MOST_HOPS = 255;

/** Reads values of the topic `reports` into the columns of a batch. Whatever the bytes are, it does not throw. */
export abstract class MessageDecoder {
  /** What was read beside the hops; valid after `decodeInto` returned OK, until the next call. */
  readonly fields: ReportFields = new ReportFields();
  protected readonly hop: HopFields = new HopFields();
  #batch: TelemetryBatch | null = null;
  /** Where the hop that comes next goes. */
  #row = 0;
  #hops = 0;

  /**
   * Appends a frame, and unless the value is bad its report, in all columns that a message carries: not the position of
   * the Ethernet header and of domain-specific words, nor the padding of the `drop` word. The frame's `frameCode` is what
   * is returned.
   * @returns `OK`, `TRUNCATED`, `BAD_REPORT_LENGTH` or `BATCH_TOO_SMALL` of the codec's `CODES`
   */
  decodeInto(batch: TelemetryBatch, value: Uint8Array): number {
    const { state, capacity } = batch;
    const frame = state[STATE.FRAMES]!;
    const row = state[STATE.REPORTS]!;
    if (frame >= capacity.frames || row >= capacity.reports) return MESSAGE_CODE.FULL;
    this.fields.clear();
    this.#batch = batch;
    this.#row = state[STATE.HOPS]!;
    this.#hops = 0;
    let code = this.parse(value);
    this.#batch = null;
    if (code === MESSAGE_CODE.FULL) return code;
    // Neither a report nor a packet with INT: an empty value is a valid message, but no record.
    if (code === MESSAGE_CODE.OK && this.fields.version === 0 && this.fields.mode === 0) code = MESSAGE_CODE.MALFORMED;
    batch.frameCode[frame] = code;
    state[STATE.FRAMES] = frame + 1;
    if (code !== MESSAGE_CODE.OK) return code;
    const first = state[STATE.HOPS]!;
    this.fields.write(batch, row, frame, first, this.#hops);
    state[STATE.REPORTS] = row + 1;
    state[STATE.HOPS] = first + this.#hops;
    return code;
  }

  /** Fills {@link fields} and calls {@link appendHop} for each hop, the reporting node's own row last. */
  protected abstract parse(value: Uint8Array): number;

  /**
   * Writes {@link hop} as the next hop row; behind the batch's rows, so that a report that turns out to be bad leaves
   * nothing.
   */
  protected appendHop(): number {
    const batch = this.#batch!;
    if (this.#hops >= MOST_HOPS || !this.hop.fits()) return MESSAGE_CODE.MALFORMED;
    if (this.#row >= batch.capacity.hops) return MESSAGE_CODE.FULL;
    this.hop.write(batch, this.#row);
    this.#row++;
    this.#hops++;
    return MESSAGE_CODE.OK;
  }
}
