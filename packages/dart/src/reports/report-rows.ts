import { FLAG, HOP_COLUMNS, type Metric, type MetricName, metricOf, type TelemetryBatch } from '@int/codec';
import { FLOW_KEY_BYTES_IPV6, writeFlowKeyIpv4, writeFlowKeyIpv6 } from '@int/hash';
import { writeWord } from '../big-endian.js';
import type { KeyRows } from '../store/rows.js';

const NOT_AVAILABLE = 0xffffffff;
const NODE_COLUMN = /* @__PURE__ */ HOP_COLUMNS.indexOf('nodeId');
/** Bytes of the longest key: an IPv6 flow, then a switch id. */
const KEY_BYTES = FLOW_KEY_BYTES_IPV6 + 4;

/** Options for turning reports into rows. */
export interface ReportRowsOptions {
  /** Bytes of a value, a multiple of 4. */
  readonly valueBytes: number;
  /**
   * `path`, the default: the key is the flow, the value the node ids of its path from the INT source on. Names of
   * metrics: a row per hop that has a node id, as in postcard mode; the key is the flow and the node id, the value
   * these metrics.
   */
  readonly values?: 'path' | readonly MetricName[];
}

/** Counts of reports that gave no row, by reason, and of truncated paths. */
export interface ReportRowsCounters {
  /** Rows of the batch whose code is not 0, so that they are not reports. */
  notOk: number;
  /** Reports without a flow. */
  noFlow: number;
  /** Reports without a node id. */
  noNode: number;
  /** Paths longer than a value; their first nodes are kept. */
  cut: number;
  /** Hops without a node id, for rows per hop. */
  namelessHops: number;
}

/**
 * Makes rows of keys and values from decoded reports, for `DartStore.writeRows`. Nothing is allocated after construction.
 *
 * A key is the 13 or 37 bytes that `encodeFlowKey` of @int/hash writes. For rows per hop, the node id follows: 4 bytes,
 * big-endian. A value is 32-bit words, big-endian: node ids or metrics. A node or metric that is not available is all
 * ones; words after the last are 0.
 */
export class ReportRows {
  readonly capacity: number;
  readonly keys: KeyRows;
  readonly values: Uint8Array;
  readonly counters: ReportRowsCounters = { notOk: 0, noFlow: 0, noNode: 0, cut: 0, namelessHops: 0 };
  readonly #words: number;
  readonly #metrics: readonly Metric[] | null;
  #rows = 0;

  /**
   * @param capacity most rows; at least 256 for rows per hop, so that the rows of a report fit
   * @throws RangeError for a capacity or sizes out of range, or more metrics than a value holds
   */
  constructor(capacity: number, { valueBytes, values = 'path' }: ReportRowsOptions) {
    const least = values === 'path' ? 1 : 256;
    if (!(Number.isInteger(capacity) && capacity >= least)) {
      throw new RangeError(`capacity must be a whole number from ${least} on, not ${capacity}`);
    }
    if (!(Number.isInteger(valueBytes) && valueBytes >= 4 && valueBytes % 4 === 0)) {
      throw new RangeError(`a value of words has a multiple of 4 bytes, not ${valueBytes}`);
    }
    this.capacity = capacity;
    this.#words = valueBytes / 4;
    this.#metrics = values === 'path' ? null : values.map((name) => metricOf(name));
    if (this.#metrics !== null && !(this.#metrics.length >= 1 && this.#metrics.length <= this.#words)) {
      throw new RangeError(`${this.#metrics.length} metrics: a value of ${valueBytes} bytes holds 1 to ${this.#words}`);
    }
    const offsets = new Uint32Array(capacity);
    for (let row = 0; row < capacity; row++) offsets[row] = row * KEY_BYTES;
    this.keys = { bytes: new Uint8Array(capacity * KEY_BYTES), offsets, lengths: new Uint32Array(capacity) };
    this.values = new Uint8Array(capacity * valueBytes);
  }

  /** Rows made by the last {@link fill}. */
  get rows(): number {
    return this.#rows;
  }

  /**
   * Makes rows of the reports from `from` on. They replace the previous rows.
   * @returns the first report without room, where the next call continues; `to` if all fitted
   */
  fill(batch: TelemetryBatch, from = 0, to: number = batch.reports): number {
    this.#rows = 0;
    for (let report = from; report < to; report++) {
      if (!this.#isUsable(batch, report)) continue;
      const needed = this.#metrics === null ? 1 : batch.hopCount[report]!;
      if (this.#rows + needed > this.capacity) return report;
      if (this.#metrics === null) this.#addPath(batch, report);
      else this.#addHops(batch, report, this.#metrics);
    }
    return to;
  }

  #isUsable(batch: TelemetryBatch, report: number): boolean {
    if (batch.code[report] !== 0) this.counters.notOk++;
    else if ((batch.flags[report]! & FLAG.FLOW) === 0) this.counters.noFlow++;
    else return true;
    return false;
  }

  #addPath(batch: TelemetryBatch, report: number): void {
    const nodes = batch.hopWords;
    const first = NODE_COLUMN * batch.hopStride + batch.hopStart[report]!;
    const end = first + batch.hopCount[report]!;
    const words = this.#words;
    const row = this.#rows;
    let count = 0;
    let isNamed = false;
    let last = NOT_AVAILABLE;
    for (let at = first; at < end; at++) {
      last = nodes[at]!;
      if (last !== NOT_AVAILABLE) isNamed = true;
      if (count < words) this.#setWord(row, count, last);
      count++;
    }
    const own = batch.nodeId[report]!;
    if (own !== NOT_AVAILABLE && own !== last) {
      isNamed = true;
      if (count < words) this.#setWord(row, count, own);
      count++;
    }
    if (!isNamed) {
      this.counters.noNode++;
      return;
    }
    if (count > words) this.counters.cut++;
    for (; count < words; count++) this.#setWord(row, count, 0);
    this.keys.lengths[row] = this.#writeFlow(batch, report, row);
    this.#rows++;
  }

  #addHops(batch: TelemetryBatch, report: number, metrics: readonly Metric[]): void {
    const { hopWords, hopStride } = batch;
    const first = batch.hopStart[report]!;
    const end = first + batch.hopCount[report]!;
    if (first === end) this.counters.noNode++;
    for (let hop = first; hop < end; hop++) {
      const node = hopWords[NODE_COLUMN * hopStride + hop]!;
      if (node === NOT_AVAILABLE) {
        this.counters.namelessHops++;
        continue;
      }
      const row = this.#rows;
      for (let word = 0; word < this.#words; word++) {
        const metric = metrics[word];
        this.#setWord(row, word, metric === undefined ? 0 : readMetric(hopWords, hopStride, hop, metric));
      }
      const length = this.#writeFlow(batch, report, row);
      writeWord(this.keys.bytes, this.keys.offsets[row]! + length, node);
      this.keys.lengths[row] = length + 4;
      this.#rows++;
    }
  }

  #writeFlow(batch: TelemetryBatch, report: number, row: number): number {
    const { bytes, offsets } = this.keys;
    const at = offsets[row]!;
    const protocol = batch.protocol[report]!;
    const ports = batch.ports[report]!;
    const source = batch.source0[report]!;
    const destination = batch.destination0[report]!;
    if ((batch.flags[report]! & FLAG.IPV6) === 0)
      return writeFlowKeyIpv4(bytes, at, source, destination, protocol, ports);
    return writeFlowKeyIpv6(
      bytes,
      at,
      source,
      batch.source1[report]!,
      batch.source2[report]!,
      batch.source3[report]!,
      destination,
      batch.destination1[report]!,
      batch.destination2[report]!,
      batch.destination3[report]!,
      protocol,
      ports,
    );
  }

  #setWord(row: number, index: number, word: number): void {
    writeWord(this.values, (row * this.#words + index) * 4, word);
  }
}

/** A metric of a hop; all ones if the hop lacks it. */
function readMetric(hopWords: Uint32Array, stride: number, hop: number, metric: Metric): number {
  const word = hopWords[metric.columnIndex * stride + hop]!;
  const other = metric.pairIndex < 0 ? word : hopWords[metric.pairIndex * stride + hop]!;
  return word === NOT_AVAILABLE && other === NOT_AVAILABLE ? NOT_AVAILABLE : word;
}
