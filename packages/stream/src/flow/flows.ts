import { type Flow, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import { StreamError } from '../errors.js';
import type { StateChange } from '../model/state.js';
import type { FlowSideOptions } from '../options.js';
import type { ByteFields } from '../partial/fields.js';
import { stateReader, stateWriter } from '../partial/state.js';
import { ByteWriter } from '../partial/writer.js';
import type { ResolvedFlowOptions } from '../resolve.js';
import { NO_ROW } from '../slice/pair-table.js';
import { Paths } from './paths.js';
import { Sightings } from './sightings.js';
import { FlowTable } from './table.js';
import { FlowWindows } from './windows.js';

/** All state per flow, by row, and which rows have changed. */
export class Flows {
  /** First byte of the keys of its state. The flow's key follows. */
  static readonly PREFIX = 0x66;
  readonly table: FlowTable;
  readonly sightings: Sightings;
  readonly paths: Paths;
  readonly windows: FlowWindows;
  readonly #watch: ((flow: Flow) => boolean) | undefined;
  readonly #sinkOf: ((flow: Flow) => number | null) | undefined;
  readonly #lastSeen: Float64Array;
  readonly #isDirty: Uint8Array;
  /** Whether the stored state contains the row. */
  readonly #isKept: Uint8Array;
  /** Keys of forgotten flows that the stored state contains. */
  #gone: Uint8Array[] = [];

  constructor(resolved: ResolvedFlowOptions, { watch, sinkOf }: FlowSideOptions) {
    const { flows, hops } = resolved;
    this.#watch = watch;
    this.#sinkOf = sinkOf;
    this.table = new FlowTable(flows);
    this.sightings = new Sightings(flows, resolved.blackHoleUs, resolved.blackHoleGaps);
    this.paths = new Paths(flows, hops);
    this.windows = new FlowWindows(flows, resolved.windows, hops);
    this.#lastSeen = new Float64Array(flows);
    this.#isDirty = new Uint8Array(flows);
    this.#isKept = new Uint8Array(flows);
  }

  /** The row of the report's flow or node, initialised if it is new; NO_ROW if there is no room. */
  rowOf(batch: TelemetryBatch, report: number): number {
    const before = this.table.size;
    const row = this.table.rowOfReport(batch, report);
    if (row === NO_ROW) return row;
    if (this.table.size !== before) this.#begin(row);
    this.#isDirty[row] = 1;
    return row;
  }

  seen(row: number, timeUs: number): void {
    if (this.#lastSeen[row]! < timeUs) this.#lastSeen[row] = timeUs;
  }

  #begin(row: number): void {
    this.#lastSeen[row] = 0;
    this.#isKept[row] = 0;
    this.paths.reset(row);
    this.windows.reset(row);
    const flow = this.#watch === undefined && this.#sinkOf === undefined ? null : this.table.flow(row);
    const isWatched = flow === null || this.#watch === undefined || this.#watch(flow);
    const sink = flow === null ? null : (this.#sinkOf?.(flow) ?? null);
    this.sightings.reset(row, isWatched, sink ?? NOT_AVAILABLE);
  }

  /** Marks a row as changed. */
  touch(row: number): void {
    this.#isDirty[row] = 1;
  }

  /** Forgets flows that were not seen after a time. */
  forget(timeUs: number): void {
    if (this.table.size === 0) return;
    this.table.release((row) => {
      if (this.#lastSeen[row]! > timeUs) return false;
      if (this.#isKept[row] === 1) this.#gone.push(this.#key(row));
      this.windows.reset(row);
      return true;
    });
  }

  #key(row: number): Uint8Array {
    const flow = this.table.key(row);
    const key = new Uint8Array(flow.length + 1);
    key[0] = Flows.PREFIX;
    key.set(flow, 1);
    return key;
  }

  changes(into: StateChange[]): void {
    for (const key of this.#gone) into.push({ key, value: null });
    this.#gone = [];
    const { used, capacity } = this.table;
    const bytes = new ByteWriter();
    for (let row = 0; row < capacity; row++) {
      if (used[row] === 0 || this.#isDirty[row] === 0) continue;
      this.#isDirty[row] = 0;
      this.#isKept[row] = 1;
      const writer = stateWriter(bytes);
      this.#pass(row, writer);
      this.windows.write(row, writer);
      into.push({ key: this.#key(row), value: writer.take() });
    }
  }

  #pass(row: number, fields: ByteFields): void {
    this.#lastSeen[row] = fields.number(this.#lastSeen[row]!);
    this.sightings.pass(row, fields);
    this.paths.pass(row, fields);
  }

  /** @throws StreamError */
  restore(key: Uint8Array, value: Uint8Array): void {
    const row = this.table.rowOfKey(key.subarray(1));
    if (row === null) throw new StreamError('ERR_STREAM_MALFORMED', 1, `a flow key of ${key.length - 1} bytes`);
    if (row === NO_ROW) throw new StreamError('ERR_STREAM_CAPACITY', 0, `more than ${this.table.capacity} flows`);
    this.#begin(row);
    const reader = stateReader(value);
    this.#pass(row, reader);
    this.windows.read(row, reader);
    reader.end();
    this.#isDirty[row] = 0;
    this.#isKept[row] = 1;
  }
}
