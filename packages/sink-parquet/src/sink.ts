import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TelemetryBatch } from '@int/codec';
import { type RecordCounts, RecordIds, type RecordKind, type Sink, type SinkTotals } from '@int/collector';
import { OutageLog } from '@int/collector/internals';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import { FileWriter } from './engine/file-writer.js';
import { ParquetSinkError, toSinkError } from './errors.js';
import { EventRows } from './fill/event-rows.js';
import { FlowRows } from './fill/flow-rows.js';
import { HourFinder } from './fill/instants.js';
import { ReportRows, rowsOf } from './fill/report-rows.js';
import { OpenSegments } from './memory/open-segments.js';
import type { Segment } from './memory/segment.js';
import { SLAB_ROWS, type Slab, SlabPool } from './memory/slab.js';
import { type ParquetSinkOptions, type ResolvedOptions, resolveOptions } from './options.js';
import { Maintenance, type MaintenanceResult } from './store/maintenance.js';
import { Publisher } from './store/publisher.js';
import { Workplace } from './store/workplace.js';
import type { Table } from './table/table.js';
import { SCHEMA_TABLES } from './table/tables.js';

/** Why records were dropped; a closed list. */
export type ParquetDropReason =
  /** No memory left, with `whenFull: 'drop'`. */
  | 'overflow'
  /** Not in a file at the time limit of {@link ParquetSink.close}, or offered after it. */
  | 'closed';

/** The counters of a sink besides those of its records. */
export interface ParquetFigures {
  /** Files written, merged ones not counted. */
  readonly files: number;
  /** Bytes in them. */
  readonly bytes: number;
  /** Rows in them: a report has one for each hop. */
  readonly rows: number;
  /** Bytes of memory that hold rows now. */
  readonly memoryBytes: number;
  /** Outages, in which files could not be written. */
  readonly outages: number;
  /** Files that were merged, that were made of them, and that were removed because of their age or number. */
  readonly merged: number;
  readonly made: number;
  readonly expired: number;
  /** Files found damaged before a merge, and set aside. */
  readonly damaged: number;
}

interface Counters {
  offered: number;
  delivered: number;
  readonly dropped: Record<ParquetDropReason, number>;
}

const ROW_GROUP = 122_880;
const ENGINE_MIB = 1024;
const DEFAULT_CLOSE_MS = 10_000;

/**
 * Writes reports with their hops, events and flows to Parquet files in a folder, by the hour of their times.
 *
 * The sink copies records into columns in memory of fixed size. At a limit of rows, bytes or time they become a file,
 * which is written beside the store, synced, then moved into it. A record counts as delivered when its file is in the
 * store. A crash loses at most the pending records, and never leaves a partial file in the store.
 */
export class ParquetSink implements Sink {
  readonly name: string;
  readonly records: readonly RecordKind[];
  /** First half of the id of every record. */
  readonly instance: string;
  /** The folder of the store. */
  readonly directory: string;
  readonly #options: ResolvedOptions;
  readonly #ids: RecordIds;
  readonly #pool: SlabPool;
  readonly #segments: OpenSegments;
  readonly #writer: FileWriter;
  readonly #workplace: Workplace;
  readonly #publisher: Publisher;
  readonly #maintenance: Maintenance;
  readonly #outages: OutageLog<ParquetSinkError>;
  readonly #reportRows = new ReportRows();
  readonly #eventRows = new EventRows();
  readonly #flowRows = new FlowRows();
  readonly #hours = new HourFinder();
  readonly #counters: Readonly<Record<RecordKind, Counters>>;
  readonly #work = { merged: 0, made: 0, expired: 0, damaged: 0 };
  /** Why the last maintenance failed. */
  #maintenanceProblem: string | null = null;
  #waiting: (() => void)[] = [];
  /** The batch that waits for room; others queue behind it. */
  #busy: Promise<void> | null = null;
  #timers: NodeJS.Timeout[] = [];
  #maintaining: Promise<MaintenanceResult> | null = null;
  #closing: Promise<void> | null = null;
  #fileNumber = 0;

  private constructor(options: ResolvedOptions, ids: RecordIds, writer: FileWriter, workplace: Workplace) {
    const { directory, name, records, memoryBytes, onProblem, onRecovered, rotate, maintenanceMs } = options;
    this.#options = options;
    this.#ids = ids;
    this.#writer = writer;
    this.#workplace = workplace;
    this.name = name;
    this.records = records;
    this.directory = directory;
    this.instance = ids.instance;
    this.#pool = new SlabPool(memoryBytes);
    const counters = (): Counters => ({ offered: 0, delivered: 0, dropped: { overflow: 0, closed: 0 } });
    this.#counters = { reports: counters(), events: counters(), flows: counters() };
    this.#outages = new OutageLog({
      // An error of a callback must not interrupt the sink.
      onProblem: (error) => queueMicrotask(() => onProblem(error)),
      onRecovered: (outage) => queueMicrotask(() => onRecovered(outage)),
    });
    this.#publisher = new Publisher({
      directory,
      writer,
      workplace,
      outages: this.#outages,
      retryFirstMs: options.retryFirstMs,
      retryMaxMs: options.retryMaxMs,
      nextName: () => this.#nextName(),
      onDone: (segment) => {
        this.#counters[segment.table.kind].delivered += segment.records;
        this.#release(segment);
      },
    });
    this.#segments = new OpenSegments(this.#pool, rotate, this.#publisher);
    this.#maintenance = new Maintenance(directory, writer, workplace, {
      ...options,
      nextName: () => this.#nextName(),
      currentHour: () => this.#publisher.lastHour,
      onDamaged: (path, reason) => {
        const message = `a file of ${directory} was damaged: ${reason}; it is ${path} now`;
        queueMicrotask(() => onProblem(new ParquetSinkError('ERR_PARQUET_DAMAGED', message)));
      },
    });
    const every = (ms: number, task: () => void): void => {
      const timer = setInterval(task, ms);
      timer.unref();
      this.#timers.push(timer);
    };
    every(Math.max(10, Math.min(1000, rotate.ageMs / 4)), () => this.#segments.closeOld());
    // The log of outages reports failures.
    if (maintenanceMs > 0) every(maintenanceMs, () => void this.maintain().catch(() => undefined));
  }

  /**
   * Creates the folder, removes the remains of a crash, and starts the engine.
   * @throws ParquetSinkError if the folder cannot be used
   * @throws TypeError or RangeError that names a wrong option
   */
  static async open(options: ParquetSinkOptions): Promise<ParquetSink> {
    const resolved = resolveOptions(options);
    const ids = new RecordIds(resolved.instance);
    const { directory, compression, threads, units } = resolved;
    try {
      await mkdir(directory, { recursive: true });
      const workplace = await Workplace.open(directory, ids.instance);
      const writer = await FileWriter.open({
        compression,
        units,
        threads,
        rowGroup: ROW_GROUP,
        memoryMiB: ENGINE_MIB,
        namesJson: resolved.namesJson,
        spill: join(workplace.path, 'spill'),
      });
      return new ParquetSink(resolved, ids, writer, workplace);
    } catch (error) {
      throw toSinkError(error, `cannot use ${directory}`);
    }
  }

  write(batch: TelemetryBatch): Promise<void> | undefined {
    if (!this.records.includes('reports')) return undefined;
    if (this.#busy !== null) return this.#queue(() => this.#takeRest(batch, 0));
    const next = this.#takeReports(batch, 0);
    if (next >= batch.reports) return undefined;
    if (this.#options.whenFull === 'drop') {
      this.#giveUp('reports', reportsFrom(batch, next), 'overflow');
      return undefined;
    }
    return this.#queue(() => this.#takeRest(batch, next));
  }

  /** Takes events; see {@link Sink.writeEvents}. With `whenFull: 'wait'` they may exceed the memory by one batch. */
  writeEvents(events: EventBatch): Promise<void> | undefined {
    if (!this.records.includes('events')) return undefined;
    const { batch } = events;
    for (let event = 0; event < events.count; event++) {
      const frame = batch.frame[events.report[event]!]!;
      const high = HourFinder.clampHigh(batch.frameTimeHigh[frame]!);
      const slab = this.#room(SCHEMA_TABLES.events, this.#hours.find(high, batch.frameTimeLow[frame]!));
      if (slab === null) {
        this.#giveUp('events', events.count - event, this.#refusal());
        break;
      }
      this.#counters.events.offered++;
      this.#eventRows.append(this.#segments.segment, slab, events, event, this.#ids);
      this.#segments.closeFull();
    }
    return this.#whenRoom();
  }

  /** Takes entries of a flow cache; see {@link Sink.writeFlows}. Their file is that of the hour of the last report. */
  writeFlows(words: Int32Array, at: number, records: number, geometry: CacheGeometry): Promise<void> | undefined {
    if (!this.records.includes('flows')) return undefined;
    for (let record = 0; record < records; record++) {
      const flow = this.#flowRows.read(words, at + record * geometry.bucketStride, geometry);
      // Entries without times are filed by the time now.
      const time = flow.lastNs === 0n ? BigInt(Math.floor(this.#options.now())) * 1_000_000n : flow.lastNs;
      const high = HourFinder.clampHigh(Number(time >> 32n));
      const slab = this.#room(SCHEMA_TABLES.flows, this.#hours.find(high, Number(time & 0xffffffffn)));
      if (slab === null) {
        this.#giveUp('flows', records - record, this.#refusal());
        break;
      }
      this.#counters.flows.offered++;
      this.#flowRows.append(this.#segments.segment, slab, flow, this.#ids);
      this.#segments.closeFull();
    }
    return this.#whenRoom();
  }

  /**
   * Writes all pending records to files, and resolves when the files are in the store. While the disk is full it does
   * not resolve.
   */
  flush(): Promise<void> {
    this.#segments.closeAll();
    return this.#publisher.idle();
  }

  /**
   * Merges and removes files, according to the options. The sink calls it every `maintenanceMs`. Does nothing while
   * another sink maintains the same store.
   * @throws ParquetSinkError if it fails; the next call finishes the work begun
   */
  maintain(): Promise<MaintenanceResult> {
    this.#maintaining ??= this.#maintenance
      .run()
      .then((result) => {
        this.#work.merged += result.merged;
        this.#work.made += result.made;
        this.#work.expired += result.expired;
        this.#work.damaged += result.damaged;
        this.#maintenanceProblem = null;
        return result;
      })
      .catch((error: unknown) => {
        const problem = toSinkError(error, `cannot maintain ${this.directory}`);
        // Closing ends what is under way, which is no problem. A repeated problem is reported once.
        if (this.#closing === null && this.#maintenanceProblem !== problem.message) {
          this.#maintenanceProblem = problem.message;
          queueMicrotask(() => this.#options.onProblem(problem));
        }
        throw problem;
      })
      .finally(() => {
        this.#maintaining = null;
      });
    return this.#maintaining;
  }

  totals(): SinkTotals {
    return Object.fromEntries(this.records.map((kind) => [kind, this.#counts(kind)]));
  }

  figures(): ParquetFigures {
    const { files, bytes, rows } = this.#publisher;
    return { files, bytes, rows, memoryBytes: this.#pool.usedBytes, outages: this.#outages.count, ...this.#work };
  }

  health(): string | null {
    return this.#outages.problem?.message ?? this.#maintenanceProblem;
  }

  /**
   * Stops taking records, writes the pending ones to files, and closes. Records not in a file at the time limit are
   * dropped as `closed`.
   */
  close(timeoutMs: number = DEFAULT_CLOSE_MS): Promise<void> {
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  async #close(timeoutMs: number): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#maintenance.stop();
    this.#wake();
    this.#segments.closeAll();
    const left = await this.#publisher.close(timeoutMs);
    for (const segment of left) {
      this.#counters[segment.table.kind].dropped.closed += segment.records;
      this.#release(segment);
    }
    // A merge under way fails. The next one finishes its work.
    this.#writer.interrupt();
    await this.#maintaining?.catch(() => undefined);
    await this.#writer.close();
    await this.#workplace.close().catch(() => undefined);
  }

  #counts(kind: RecordKind): RecordCounts {
    const { offered, delivered, dropped } = this.#counters[kind];
    return {
      offered,
      delivered,
      pending: offered - delivered - dropped.overflow - dropped.closed,
      dropped: { ...dropped },
    };
  }

  #nextName(): string {
    return `${this.instance}-${String(this.#fileNumber++).padStart(8, '0')}`;
  }

  #refusal(): ParquetDropReason {
    return this.#closing === null ? 'overflow' : 'closed';
  }

  #giveUp(kind: RecordKind, records: number, reason: ParquetDropReason): void {
    this.#counters[kind].offered += records;
    this.#counters[kind].dropped[reason] += records;
  }

  /** Takes reports from row `from` on. @returns the row at which there was no room, or that behind the last one */
  #takeReports(batch: TelemetryBatch, from: number): number {
    const { reports } = batch;
    if (this.#closing !== null) {
      this.#giveUp('reports', reportsFrom(batch, from), 'closed');
      return reports;
    }
    let row = from;
    while (row < reports) {
      if (batch.code[row] !== 0) {
        row++;
        continue;
      }
      const hour = this.#hourOf(batch, row);
      const slab = this.#segments.room(SCHEMA_TABLES.hops, hour, rowsOf(batch, row), false);
      if (slab === null) return row;
      const end = this.#runEnd(batch, row, hour, SLAB_ROWS - slab.rows);
      this.#reportRows.append(this.#segments.segment, slab, batch, row, end, this.#ids);
      this.#counters.reports.offered += end - row;
      this.#segments.closeFull();
      row = end;
    }
    return row;
  }

  /** The end of the run of reports from `from` on whose hops lie one behind the other, within one hour and `room` rows. */
  #runEnd(batch: TelemetryBatch, from: number, hour: number, room: number): number {
    const { code, hopCount, hopStart, reports } = batch;
    let rows = hopCount[from]!;
    let row = from + 1;
    if (rows === 0) return row;
    while (row < reports && code[row] === 0) {
      const hops = hopCount[row]!;
      const isNext = hops > 0 && hopStart[row] === hopStart[row - 1]! + hopCount[row - 1]!;
      if (!isNext || rows + hops > room || this.#hourOf(batch, row) !== hour) break;
      rows += hops;
      row++;
    }
    return row;
  }

  #hourOf(batch: TelemetryBatch, row: number): number {
    const frame = batch.frame[row]!;
    return this.#hours.find(HourFinder.clampHigh(batch.frameTimeHigh[frame]!), batch.frameTimeLow[frame]!);
  }

  /** Takes reports from row `from` on, and waits for room as often as there is none. */
  async #takeRest(batch: TelemetryBatch, from: number): Promise<void> {
    let next = this.#takeReports(batch, from);
    while (next < batch.reports) {
      await new Promise<void>((resolve) => {
        if (this.#closing === null) this.#waiting.push(resolve);
        else resolve();
      });
      next = this.#takeReports(batch, next);
    }
  }

  /** Runs a task when those before it are done. */
  #queue(task: () => Promise<void>): Promise<void> {
    const before = this.#busy?.catch(() => undefined);
    const done = (before === undefined ? task() : before.then(task)).finally(() => {
      if (this.#busy === done) this.#busy = null;
    });
    this.#busy = done;
    return done;
  }

  /** Room for a row that cannot be offered again: with `whenFull: 'wait'` it may exceed the memory limit. */
  #room(table: Table, hour: number): Slab | null {
    if (this.#closing !== null) return null;
    return this.#segments.room(table, hour, 1, this.#options.whenFull === 'wait');
  }

  /** A promise to wait for, if memory is beyond its limit. */
  #whenRoom(): Promise<void> | undefined {
    if (this.#pool.usedBytes <= this.#pool.limitBytes || this.#closing !== null) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(segment: Segment): void {
    for (const slab of segment.slabs) this.#pool.give(slab);
    segment.slabs.length = 0;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Good reports from row `from` on. */
function reportsFrom(batch: TelemetryBatch, from: number): number {
  let count = 0;
  for (let row = from; row < batch.reports; row++) if (batch.code[row] === 0) count++;
  return count;
}
