import type { TelemetryBatch } from '@int/codec';
import { RECORD_KINDS, type RecordKind, type Sink, type SinkTotals } from '@int/collector';
import { within } from '@int/collector/internals';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import { KindCounts } from './client/counts.js';
import { Shipper, type ShipperTotals } from './client/shipper.js';
import { LineBatch } from './lines/batch.js';
import { LineEncoder } from './lines/encoder.js';
import { type OpenSearchSinkOptions, type ResolvedOptions, resolveOptions } from './options.js';

/**
 * Batches beyond `memoryBytes` that events and flows may fill while the pipeline is asked to wait: they are copied at once, as
 * what they come in is used again.
 */
const SPARE_SHARE = 2;

/**
 * Writes reports, events and flow entries to OpenSearch or Elasticsearch, in bulk requests.
 *
 * A record is `delivered` when the server has acknowledged it, by default after the primary and the replicas that are there
 * have written it to their logs. Each has an id that is used once, so a request that is sent again after its answer was lost
 * stores nothing twice. Every record offered is at any time pending, delivered, or counted as dropped, with the reason.
 *
 * @example
 * const sink = new OpenSearchSink({ nodes: ['http://127.0.0.1:9200'] });
 * const collector = new Collector({ sources, stages, sinks: [sink] });
 */
export class OpenSearchSink implements Sink {
  readonly name: string;
  readonly records: readonly RecordKind[];
  /** What the ids of its records begin with: 16 hexadecimal digits. */
  readonly instance: string;
  readonly #options: ResolvedOptions;
  readonly #encoder: LineEncoder;
  readonly #counts: ReadonlyMap<RecordKind, KindCounts>;
  readonly #shipper: Shipper;
  /** Batches in use at most; events and flows may use {@link SPARE_SHARE} as many if the pipeline waits. */
  readonly #limit: number;
  readonly #free: LineBatch[] = [];
  #made = 0;
  #filling: LineBatch | null = null;
  #linger: NodeJS.Timeout | undefined;
  #waiting: (() => void)[] = [];
  #closing: Promise<void> | null = null;
  #isClosed = false;

  /** @throws TypeError or RangeError that names the option */
  constructor(options: OpenSearchSinkOptions) {
    const resolved = resolveOptions(options);
    this.#options = resolved;
    this.name = resolved.name;
    this.records = RECORD_KINDS.filter((kind) => resolved.records.has(kind));
    this.#encoder = new LineEncoder(resolved, options.names);
    this.instance = this.#encoder.instance;
    this.#counts = new Map(this.records.map((kind) => [kind, new KindCounts()]));
    this.#shipper = new Shipper(resolved, this.#counts, (batch) => this.#release(batch));
    this.#limit = Math.max(2, Math.floor(resolved.memoryBytes / (resolved.batchBytes + this.#encoder.lineBytes)));
  }

  /** Takes the reports of a batch whose `code` is 0. */
  write(batch: TelemetryBatch): Promise<void> | undefined {
    const counts = this.#counts.get('reports');
    if (counts === undefined) return undefined;
    let reports = 0;
    for (let row = 0; row < batch.reports; row++) if (batch.code[row] === 0) reports++;
    counts.offered += reports;
    return this.#reports(counts, batch, 0, reports);
  }

  /** @param left reports from row `from` on */
  #reports(counts: KindCounts, batch: TelemetryBatch, from: number, left: number): Promise<void> | undefined {
    let remaining = left;
    for (let row = from; remaining > 0; row++) {
      if (batch.code[row] !== 0) continue;
      const lines = this.#room(this.#limit);
      if (lines === null) {
        if (this.#isClosed) counts.drop('closed', remaining);
        else if (this.#options.whenFull === 'drop') counts.drop('overflow', remaining);
        else {
          const next = row;
          const rest = remaining;
          return this.#whenRoom().then(() => this.#reports(counts, batch, next, rest));
        }
        return undefined;
      }
      this.#encoder.report(lines, batch, row);
      this.#added(lines);
      remaining--;
    }
    return undefined;
  }

  /** Takes events; all are copied or counted before it returns. */
  writeEvents(events: EventBatch): Promise<void> | undefined {
    const counts = this.#counts.get('events');
    if (counts === undefined) return undefined;
    return this.#copy(counts, events.count, (lines, row) => this.#encoder.event(lines, events, row));
  }

  /** Takes entries that left a flow cache; all are copied or counted before it returns. */
  writeFlows(words: Int32Array, at: number, records: number, geometry: CacheGeometry): Promise<void> | undefined {
    const counts = this.#counts.get('flows');
    if (counts === undefined) return undefined;
    return this.#copy(counts, records, (lines, row) =>
      this.#encoder.flow(lines, words, at + row * geometry.bucketStride, geometry),
    );
  }

  #copy(
    counts: KindCounts,
    records: number,
    encode: (lines: LineBatch, row: number) => void,
  ): Promise<void> | undefined {
    counts.offered += records;
    const waits = this.#options.whenFull === 'wait';
    const limit = waits ? this.#limit * SPARE_SHARE : this.#limit;
    for (let row = 0; row < records; row++) {
      const lines = this.#room(limit);
      if (lines === null) {
        counts.drop(this.#isClosed ? 'closed' : 'overflow', records - row);
        break;
      }
      encode(lines, row);
      this.#added(lines);
    }
    return waits && !this.#isClosed && this.#used >= this.#limit && this.#filling === null
      ? this.#whenRoom()
      : undefined;
  }

  /** Sends what waits for its request to fill. Resolves when everything taken so far is settled. */
  async flush(): Promise<void> {
    this.#seal();
    await this.#shipper.idle();
  }

  totals(): SinkTotals {
    return Object.fromEntries([...this.#counts].map(([kind, counts]) => [kind, counts.snapshot()]));
  }

  /** What went over the wire so far. */
  traffic(): ShipperTotals {
    return this.#shipper.totals;
  }

  /** Why it is not well: the outage that lasts; `null` if none does. */
  health(): string | null {
    return this.#shipper.trouble;
  }

  /**
   * Takes no more, writes what it holds, and ends; calling it again gives the same promise.
   * @param timeoutMs after which what is not acknowledged is given up: `unconfirmed` if it may have arrived, else `closed`.
   *   Default `closeTimeoutMs`
   */
  close(timeoutMs: number = this.#options.closeTimeoutMs): Promise<void> {
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    this.#seal();
    this.#wake();
    await within(timeoutMs, this.#shipper.idle());
    await this.#shipper.end();
  }

  get #used(): number {
    return this.#made - this.#free.length;
  }

  /** A batch with room for a record; `null` if there is none. */
  #room(limit: number): LineBatch | null {
    if (this.#filling !== null) return this.#filling;
    if (this.#isClosed || this.#used >= limit) return null;
    let batch = this.#free.pop();
    if (batch === undefined) {
      batch = new LineBatch(this.#options.batchBytes, this.#options.batchRecords, this.#encoder.lineBytes);
      this.#made += 1;
    }
    this.#filling = batch;
    return batch;
  }

  /** A record has been put into the batch being filled. */
  #added(lines: LineBatch): void {
    if (lines.isFull) this.#seal();
    else this.#linger ??= setTimeout(() => this.#seal(), this.#options.lingerMs);
  }

  #seal(): void {
    clearTimeout(this.#linger);
    this.#linger = undefined;
    const batch = this.#filling;
    if (batch === null) return;
    this.#filling = null;
    this.#shipper.add(batch);
  }

  #release(batch: LineBatch): void {
    batch.clear();
    // What was made for a burst beyond the limit is given back.
    if (this.#made > this.#limit) this.#made -= 1;
    else this.#free.push(batch);
    if (this.#used < this.#limit) this.#wake();
  }

  #whenRoom(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
