import { CODES, NOT_AVAILABLE } from '@int/codec';
import { DeviceProfile } from '@int/network';
import { KnownSwitches } from '@int/network/internals';
import { decodeWatermark, type MessageFormat, MessageReader, messageKind, type Watermark } from '@int/sink-kafka';
import { encodePartial, FlowSide, type FlowSideOptions } from '@int/stream';
import { FindingsBuffer, type Topics } from './findings.js';
import type { LogRecord } from './kafka/committed.js';
import { nodeKey } from './message-key.js';
import { Repeats } from './repeats.js';
import { numberBytes, readNumber } from './state-log.js';
import { sideChange, type Unit, type UnitChange, type UnitCounts, type UnitProgress, type UnitState } from './unit.js';
import { type WriterLimits, Writers } from './writers.js';

/** Formats of reports. `auto` uses the header `format` of each message, or else its first byte. */
export const REPORT_FORMATS = ['auto', 'json', 'protobuf'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** Reports decoded per batch. */
const REPORTS = 512;
const INSTANCE_BYTES = 8;
/** First byte of a JSON object; no Protobuf message begins with it. */
const BRACE = 0x7b;
/** The defaults of @int/stream. */
const DEFAULTS = { WINDOW_MS: 1000, SLICE_MS: 250, GRACE_MS: 250 } as const;
/** Silence after which a message is printed. */
const TROUBLE_MS = 5000;

/** Options of a {@link FlowUnit}. */
export interface FlowUnitOptions {
  readonly side: FlowSideOptions;
  readonly format: ReportFormat;
  readonly writers: WriterLimits;
  /** The switches that there are; default `null`: any id may be one. */
  readonly knownSwitches?: readonly number[] | null;
}

/** A flow side with the reports of one partition. */
export class FlowUnit implements Unit {
  readonly #side: FlowSide;
  readonly #reader = new MessageReader({ frames: REPORTS });
  readonly #format: ReportFormat;
  readonly #found: FindingsBuffer;
  readonly #repeats = new Repeats();
  readonly #writers: Writers;
  readonly #sliceMs: number;
  #taken = 0;
  #repeated = 0;
  #bad = 0;
  #unknownSwitch = 0;
  readonly #known: KnownSwitches | null;

  constructor(
    { side, format, writers, knownSwitches = null }: FlowUnitOptions,
    topics: Topics,
    keepObjects: boolean,
    device: DeviceProfile = DeviceProfile.NONE,
  ) {
    this.#format = format;
    this.#known = knownSwitches === null ? null : new KnownSwitches(knownSwitches);
    const found = new FindingsBuffer(topics, keepObjects, device);
    this.#found = found;
    this.#writers = new Writers(writers, (side.windowMs ?? DEFAULTS.WINDOW_MS) + (side.graceMs ?? DEFAULTS.GRACE_MS));
    this.#sliceMs = side.sliceMs ?? DEFAULTS.SLICE_MS;
    const options: FlowSideOptions = { ...side, clock: 'told' };
    this.#side = new FlowSide(options, {
      event: (event) => found.event(event),
      flowWindow: (window) => found.window(window),
      correction: (correction) => found.correction(correction),
      partial: (partial) =>
        found.message({ topic: topics.partials, key: nodeKey(partial.side), value: encodePartial(partial) }),
    });
  }

  get timeMs(): number {
    return this.#writers.timeMs;
  }

  get waitingBytes(): number {
    return this.#found.bytes;
  }

  take(records: readonly LogRecord[], from: number, to: number): void {
    for (let index = from; index < to; index++) this.#read(records[index]!);
    this.#observe();
    this.#settle();
  }

  quiet(elapsedMs: number): void {
    this.#writers.quiet(elapsedMs);
    this.#settle();
  }

  gap(): void {
    this.#writers.gap();
  }

  end(): void {
    this.#observe();
    this.#writers.end();
    this.#settle();
    this.#side.end();
  }

  /** Advances time to the writers' confirmations. */
  #settle(): void {
    for (const { fromMs, toMs } of this.#writers.settle()) this.#side.missing(fromMs, toMs);
    const { timeMs } = this.#writers;
    if (timeMs >= 0) this.#side.advance(timeMs);
  }

  results(): ReturnType<Unit['results']> {
    this.#side.revise();
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
    const writers = this.#writers.changed();
    if (writers !== null) changes.push({ kind: 'writers', key: new Uint8Array(0), value: writers });
    return changes;
  }

  restore(state: UnitState): void {
    if (state.writers !== null) this.#writers.restore(state.writers);
    for (const { key, value } of state.repeats) {
      if (key.length !== INSTANCE_BYTES) throw new RangeError(`the name of an instance has ${key.length} bytes`);
      const view = new DataView(key.buffer, key.byteOffset, INSTANCE_BYTES);
      this.#repeats.restore(view.getUint32(0), view.getUint32(4), readNumber(value));
    }
    for (const { key, value } of state.side) this.#side.restore(key, value);
  }

  counts(): UnitCounts {
    const { late, corrected, untracked, withoutFlow, incompleteWindows } = this.#side.totals();
    const own = { taken: this.#taken, repeated: this.#repeated, bad: this.#bad, unknownSwitch: this.#unknownSwitch };
    return { ...own, late, corrected, untracked, withoutFlow, incomplete: incompleteWindows };
  }

  progress(): UnitProgress {
    const { behindMs, waitingFor } = this.#writers;
    if (waitingFor === null) return { behindMs, trouble: null };
    const { instance, silentMs, isLost } = waitingFor;
    const silent = `sink ${instance}, silent for ${Math.round(silentMs / 1000)} s`;
    if (isLost) return { behindMs, trouble: `goes on without ${silent}` };
    if (silentMs > TROUBLE_MS) return { behindMs, trouble: `waits for ${silent}` };
    const isFar = behindMs > TROUBLE_MS;
    return { behindMs, trouble: isFar ? `waits for sink ${instance}, ${Math.round(behindMs / 1000)} s behind` : null };
  }

  #read(record: LogRecord): void {
    if (record.value === null) {
      this.#bad++;
      return;
    }
    const { type, format: named } = messageKind(record.headers);
    const format: MessageFormat | undefined = this.#format === 'auto' ? (named ?? undefined) : this.#format;
    if (type === 'watermark') {
      const watermark = decodeWatermark(record.value, format ?? (record.value[0] === BRACE ? 'json' : 'protobuf'));
      if (watermark === null) this.#bad++;
      else this.#takeWatermark(watermark);
      return;
    }
    // Messages of other types are not reports.
    if (type === 'other') return;
    let code = this.#reader.read(record.value, format);
    if (code === CODES.BATCH_TOO_SMALL) {
      this.#observe();
      code = this.#reader.read(record.value, format);
    }
    if (code !== CODES.OK) this.#bad++;
  }

  /** Passes earlier reports to the side first, then takes the watermark. */
  #takeWatermark(watermark: Watermark): void {
    this.#observe();
    this.#writers.watermark(watermark);
    this.#settle();
  }

  /** Passes the decoded reports to the side, without repeats. */
  #observe(): void {
    const reader = this.#reader;
    const { batch } = reader;
    const { reports } = batch;
    let from = 0;
    let settleAtMs = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < reports; row++) {
      const frame = batch.frame[row]!;
      if (!this.#repeats.isNew(reader.instanceHigh[frame]!, reader.instanceLow[frame]!, reader.number[frame]!)) {
        // The side skips rows with an error code.
        batch.code[row] = CODES.BAD_REPORT_LENGTH;
        this.#repeated++;
        continue;
      }
      // It says how far its writer is, like any other report.
      if (this.#known === null || this.#known.unknownOf(batch, row) === NOT_AVAILABLE) this.#taken++;
      else {
        batch.code[row] = CODES.BAD_REPORT_LENGTH;
        this.#unknownSwitch++;
      }
      const timeMs = (batch.frameTimeHigh[frame]! * 2 ** 32 + batch.frameTimeLow[frame]!) / 1e6;
      const isWord = this.#writers.report(reader.instanceHigh[frame]!, reader.instanceLow[frame]!, timeMs);
      if (!isWord || timeMs < settleAtMs) continue;
      // Pass earlier reports first, so that silence before this one is detected, whatever the batch size.
      this.#show(from, row);
      this.#settle();
      from = row;
      settleAtMs = timeMs + this.#sliceMs;
    }
    this.#show(from, reports);
    reader.clear();
  }

  /** Passes some of the decoded rows to the side. */
  #show(from: number, to: number): void {
    const { batch } = this.#reader;
    this.#side.observe(batch, from, to);
  }
}
