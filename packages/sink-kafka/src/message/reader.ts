import { type BatchCapacity, STATE, TelemetryBatch } from '@int/codec';
import { type ReportRecord, reportRecord } from '@int/collector';
import { MESSAGE_CODE, type MessageDecoder } from './decoder.js';
import type { MessageFormat } from './encoder.js';
import { JsonDecoder } from './json-decoder.js';
import { ProtobufDecoder } from './protobuf-decoder.js';

/** A report as JSON begins with a brace, which is no tag of a message `Report`. */
const BRACE = 0x7b;

/** Digits of a word in an id. */
function hex32(word: number): string {
  return word.toString(16).padStart(8, '0');
}

/**
 * Values of the topic `reports` as a batch: one frame for each value, with its time, and its id beside it. Made once and used
 * again. The frames have no bytes.
 */
export class MessageReader {
  /** The instance in the id of each frame's record, upper and lower 32 bits. */
  readonly instanceHigh: Uint32Array;
  readonly instanceLow: Uint32Array;
  /** The number in the id of each frame's record. */
  readonly number: Float64Array;
  /** The reports. A frame of a value that is none has a `frameCode` that says so, and no row. */
  readonly batch: TelemetryBatch;
  readonly #json = new JsonDecoder();
  readonly #protobuf = new ProtobufDecoder();

  /** @throws RangeError for a capacity out of range */
  constructor(capacity: BatchCapacity) {
    this.batch = new TelemetryBatch(capacity);
    const { frames } = capacity;
    this.instanceHigh = new Uint32Array(frames);
    this.instanceLow = new Uint32Array(frames);
    this.number = new Float64Array(frames);
  }

  /**
   * Appends a value.
   * @param format of the value. Default: as its first byte says
   * @returns `OK`, `TRUNCATED`, `BAD_REPORT_LENGTH` or `BATCH_TOO_SMALL` of the codec's `CODES`; the last: nothing was
   *   changed, take what is there, {@link clear}, and read it again
   */
  read(value: Uint8Array, format?: MessageFormat): number {
    const isJson = format === undefined ? value[0] === BRACE : format === 'json';
    const decoder: MessageDecoder = isJson ? this.#json : this.#protobuf;
    const frame = this.batch.frames;
    const code = decoder.decodeInto(this.batch, value);
    if (code === MESSAGE_CODE.FULL) return code;
    const isOk = code === MESSAGE_CODE.OK;
    const { fields } = decoder;
    this.batch.isTimed = true;
    this.batch.frameTimeHigh[frame] = isOk ? fields.timeHigh : 0;
    this.batch.frameTimeLow[frame] = isOk ? fields.timeLow : 0;
    this.instanceHigh[frame] = isOk ? fields.instanceHigh : 0;
    this.instanceLow[frame] = isOk ? fields.instanceLow : 0;
    this.number[frame] = isOk ? fields.number : 0;
    return code;
  }

  /** Forgets the value that was read last, which was a report. */
  unread(): void {
    const { state, hopCount } = this.batch;
    const row = state[STATE.REPORTS]! - 1;
    state[STATE.FRAMES]! -= 1;
    state[STATE.HOPS]! -= hopCount[row]!;
    state[STATE.REPORTS] = row;
  }

  /** The id of report row `row`: `<instance>-<n>`. */
  id(row: number): string {
    const frame = this.batch.frame[row]!;
    return `${hex32(this.instanceHigh[frame]!)}${hex32(this.instanceLow[frame]!)}-${this.number[frame]!}`;
  }

  /** Report row `row` as an object: the same in both formats. */
  record(row: number): ReportRecord {
    return reportRecord(this.batch, row, this.id(row));
  }

  /** Forgets all values. */
  clear(): void {
    this.batch.clear();
  }
}
