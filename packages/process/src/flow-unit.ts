import { CODES } from '@int/codec';
import { MESSAGE_HEADERS, type MessageFormat, MessageReader } from '@int/sink-kafka';
import { encodePartial, FlowSide, type FlowSideOptions } from '@int/stream';
import { FindingsBuffer, type Topics } from './findings.js';
import type { LogRecord } from './kafka/committed.js';
import { nodeKey } from './message-key.js';
import { Repeats } from './repeats.js';
import { numberBytes, readNumber } from './state-log.js';
import { sideChange, type Unit, type UnitChange, type UnitCounts, type UnitState } from './unit.js';

/** How reports are written; `auto`: as the header `format` of each message says, or else its first byte. */
export const REPORT_FORMATS = ['auto', 'json', 'protobuf'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** Reports that are decoded before the side takes them. */
const REPORTS = 512;
const INSTANCE_BYTES = 8;

/** A flow side: takes the reports of one partition. */
export class FlowUnit implements Unit {
  readonly #side: FlowSide;
  readonly #reader = new MessageReader({ frames: REPORTS });
  readonly #format: ReportFormat;
  readonly #found: FindingsBuffer;
  readonly #repeats = new Repeats();
  #timeMs = Number.NEGATIVE_INFINITY;
  #taken = 0;
  #repeated = 0;
  #bad = 0;

  constructor(options: FlowSideOptions, format: ReportFormat, topics: Topics, keepObjects: boolean) {
    this.#format = format;
    const found = new FindingsBuffer(topics, keepObjects);
    this.#found = found;
    this.#side = new FlowSide(options, {
      event: (event) => found.event(event),
      flowWindow: (window) => found.window(window),
      partial: (partial) =>
        found.message({ topic: topics.partials, key: nodeKey(partial.side), value: encodePartial(partial) }),
    });
  }

  get timeMs(): number {
    return this.#timeMs;
  }

  get waitingBytes(): number {
    return this.#found.bytes;
  }

  take(records: readonly LogRecord[], from: number, to: number): void {
    for (let index = from; index < to; index++) this.#read(records[index]!);
    this.#observe();
  }

  advance(timeMs: number): void {
    if (timeMs <= this.#timeMs) return;
    this.#timeMs = timeMs;
    this.#side.advance(timeMs);
  }

  results(): ReturnType<Unit['results']> {
    return this.#found.take();
  }

  changes(): UnitChange[] {
    const changes = this.#side.changes().map(sideChange);
    for (const { high, low, number } of this.#repeats.changes()) {
      const key = new Uint8Array(INSTANCE_BYTES);
      const view = new DataView(key.buffer);
      view.setUint32(0, high);
      view.setUint32(4, low);
      changes.push({ kind: 'repeats', key, value: number === null ? null : numberBytes(number) });
    }
    return changes;
  }

  restore(state: UnitState): void {
    for (const { key, value } of state.repeats) {
      if (key.length !== INSTANCE_BYTES) throw new RangeError(`the name of an instance has ${key.length} bytes`);
      const view = new DataView(key.buffer, key.byteOffset, INSTANCE_BYTES);
      this.#repeats.restore(view.getUint32(0), view.getUint32(4), readNumber(value));
    }
    for (const { key, value } of state.side) this.#side.restore(key, value);
  }

  counts(): UnitCounts {
    return { taken: this.#taken, repeated: this.#repeated, bad: this.#bad };
  }

  #read(record: LogRecord): void {
    if (record.value === null) {
      this.#bad++;
      return;
    }
    const format = this.#formatOf(record);
    let code = this.#reader.read(record.value, format);
    if (code === CODES.BATCH_TOO_SMALL) {
      this.#observe();
      code = this.#reader.read(record.value, format);
    }
    if (code !== CODES.OK) this.#bad++;
  }

  #formatOf(record: LogRecord): MessageFormat | undefined {
    if (this.#format !== 'auto') return this.#format;
    for (const [name, value] of record.headers) {
      if (name === null || value === null || !isText(name, MESSAGE_HEADERS.FORMAT)) continue;
      if (isText(value, 'json')) return 'json';
      if (isText(value, 'protobuf')) return 'protobuf';
    }
    return undefined;
  }

  /** Gives the side what was read, without repeats. */
  #observe(): void {
    const reader = this.#reader;
    const batch = reader.decoded;
    const { reports } = batch;
    let latest = this.#timeMs;
    for (let row = 0; row < reports; row++) {
      const frame = batch.frame[row]!;
      if (!this.#repeats.isNew(reader.instanceHigh[frame]!, reader.instanceLow[frame]!, reader.number[frame]!)) {
        // A row with a code is left alone.
        batch.code[row] = CODES.BAD_REPORT_LENGTH;
        this.#repeated++;
        continue;
      }
      this.#taken++;
      const timeMs = (reader.timestampsHigh[frame]! * 2 ** 32 + reader.timestampsLow[frame]!) / 1e6;
      if (timeMs > latest) latest = timeMs;
    }
    this.#side.observe(batch, {
      timestampsHigh: reader.timestampsHigh,
      timestampsLow: reader.timestampsLow,
      first: 0,
    });
    this.#timeMs = latest;
    reader.clear();
  }
}

function isText(bytes: Uint8Array, text: string): boolean {
  if (bytes.length !== text.length) return false;
  for (let at = 0; at < text.length; at++) if (bytes[at] !== text.charCodeAt(at)) return false;
  return true;
}
