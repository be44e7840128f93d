import { FIELDS, type Field, FLAG, NOT_AVAILABLE, STATE, type TelemetryBatch } from '@int/codec';
import { REPORT_WORD_COLUMNS } from '@int/codec/internals';
import type { RecordIds } from '@int/collector';
import type { AddressDictionary } from '../memory/dictionary.js';
import type { Segment } from '../memory/segment.js';
import { SLAB_STRIDE, type Slab } from '../memory/slab.js';
import { HOP_BIT, HOP_COLUMNS_AT, HOP_ROW, KEPT_HOP_COLUMNS, REPORT_ROW } from '../table/hops.js';
import { HourFinder } from './instants.js';
import { PathFinder } from './path.js';

const MISSING = 0xffffffff;
/** Columns of the addresses' first words. */
export const SOURCE = /* @__PURE__ */ REPORT_WORD_COLUMNS.indexOf('source0');
export const DESTINATION = /* @__PURE__ */ REPORT_WORD_COLUMNS.indexOf('destination0');
const RESERVED: readonly Field[] = /* @__PURE__ */ FIELDS.filter(({ isReserved }) => isReserved);
/** Their bits among the columns that a batch has written. */
const RESERVED_MASK = /* @__PURE__ */ RESERVED.reduce((mask, { column }) => mask | (1 << column), 0);

/** Rows that a report takes: one for each hop, or a single one. */
export function rowsOf(batch: TelemetryBatch, row: number): number {
  return Math.max(1, batch.hopCount[row]!);
}

export class ReportRows {
  readonly #paths = new PathFinder();

  /**
   * Appends the reports `from` to `to - 1`: all of them are good, their hops lie one behind the other in the batch, or
   * it is a single one, and the slab has room.
   */
  append(segment: Segment, slab: Slab, batch: TelemetryBatch, from: number, to: number, ids: RecordIds): void {
    if (slab.rows === 0) {
      slab.used[HOP_ROW.HOP] = 1;
      slab.used.fill(1, REPORT_ROW.TIME);
    }
    const start = slab.rows;
    const record = slab.records;
    this.#hops(slab, batch, batch.hopStart[from]!, batch.hopStart[to - 1]! + batch.hopCount[to - 1]!);
    this.#reserved(segment, slab, batch, batch.hopStart[from]!, batch.hopStart[to - 1]! + batch.hopCount[to - 1]!);
    copy(slab, REPORT_ROW.FLAGS, batch.flags, from, to);
    copy(slab, REPORT_ROW.REPORTER, batch.nodeId, from, to);
    copy(slab, REPORT_ROW.SEQUENCE, batch.sequence, from, to);
    copy(slab, REPORT_ROW.INSTRUCTIONS, batch.instructions, from, to);
    copy(slab, REPORT_ROW.PORTS, batch.ports, from, to);
    copy(slab, REPORT_ROW.DROP, batch.drop, from, to);
    copy(slab, REPORT_ROW.REPORT_TIMESTAMP, batch.reportTimestamp, from, to);
    this.#times(slab, batch, from, to);
    this.#ids(slab, from, to, ids);
    this.#flows(segment, slab, batch, from, to);
    let at = start;
    for (let report = from; report < to; report++)
      at = this.#positions(slab, batch, report, record + report - from, at);
    slab.rows = at;
    slab.records = record + to - from;
    segment.rows += at - start;
    segment.records += to - from;
  }

  /** The hop columns, which are taken over as they are; those of a report without hops get one empty row. */
  #hops(slab: Slab, batch: TelemetryBatch, from: number, to: number): void {
    const written = batch.state[STATE.WRITTEN]!;
    const start = slab.rows;
    const rows = Math.max(1, to - from);
    for (let k = 0; k < KEPT_HOP_COLUMNS.length; k++) {
      const column = KEPT_HOP_COLUMNS[k]!;
      const kept = HOP_COLUMNS_AT + k;
      const at = kept * SLAB_STRIDE + start;
      if ((written & (1 << column)) !== 0 && to > from) {
        slab.use(kept);
        const source = column * batch.hopStride;
        slab.words.set(batch.hopWords.subarray(source + from, source + to), at);
      } else if (slab.used[kept] !== 0) {
        slab.words.fill(MISSING, at, at + rows);
      }
    }
  }

  /** Items of reserved instructions: rare enough to become texts, which costs nothing where there are none. */
  #reserved({ texts }: Segment, slab: Slab, batch: TelemetryBatch, from: number, to: number): void {
    const at = HOP_ROW.RESERVED * SLAB_STRIDE + slab.rows;
    if ((batch.state[STATE.WRITTEN]! & RESERVED_MASK) === 0) {
      if (slab.used[HOP_ROW.RESERVED] !== 0) slab.words.fill(MISSING, at, at + Math.max(1, to - from));
      return;
    }
    slab.use(HOP_ROW.RESERVED);
    slab.words[at] = MISSING;
    for (let hop = from; hop < to; hop++) {
      const cell = ({ column }: Field): number => batch.hopWords[column * batch.hopStride + hop]!;
      const items = RESERVED.filter((field) => cell(field) !== NOT_AVAILABLE);
      const text = JSON.stringify(Object.fromEntries(items.map((field) => [field.name, cell(field)])));
      slab.words[at + hop - from] = items.length === 0 ? MISSING : texts.reserved.number(text);
    }
  }

  #times({ words, records }: Slab, batch: TelemetryBatch, from: number, to: number): void {
    const low = REPORT_ROW.TIME * SLAB_STRIDE + records - from;
    const high = low + SLAB_STRIDE;
    for (let report = from; report < to; report++) {
      const frame = batch.frame[report]!;
      words[low + report] = batch.frameTimeLow[frame]!;
      words[high + report] = HourFinder.clampHigh(batch.frameTimeHigh[frame]!);
    }
  }

  #ids({ words, records }: Slab, from: number, to: number, ids: RecordIds): void {
    const instance = REPORT_ROW.INSTANCE * SLAB_STRIDE + records;
    const count = to - from;
    words.fill(ids.instanceLow, instance, instance + count);
    words.fill(ids.instanceHigh, instance + SLAB_STRIDE, instance + SLAB_STRIDE + count);
    const low = REPORT_ROW.NUMBER * SLAB_STRIDE + records;
    for (let k = 0; k < count; k++) {
      const number = ids.next++;
      words[low + k] = number >>> 0;
      words[low + SLAB_STRIDE + k] = Math.floor(number / 2 ** 32);
    }
  }

  /**
   * Flow, path, and what is there only in some versions of reports. Column by column: the columns of a batch lie so that
   * the same row of many of them does not stay in the cache.
   */
  #flows({ texts }: Segment, { words, records }: Slab, batch: TelemetryBatch, from: number, to: number): void {
    const { flags, hopCount, protocol } = batch;
    const row = records - from;
    const source = REPORT_ROW.SOURCE * SLAB_STRIDE + row;
    for (let report = from; report < to; report++) {
      words[source + report] = addressOf(texts.source, batch, report, SOURCE);
    }
    const destination = REPORT_ROW.DESTINATION * SLAB_STRIDE + row;
    for (let report = from; report < to; report++) {
      words[destination + report] = addressOf(texts.destination, batch, report, DESTINATION);
    }
    const path = REPORT_ROW.PATH * SLAB_STRIDE + row;
    for (let report = from; report < to; report++) {
      words[path + report] = this.#paths.find(batch, report, texts.path);
    }
    const [protocols, hops, reporter] = [
      REPORT_ROW.PROTOCOL * SLAB_STRIDE + row,
      REPORT_ROW.HOPS * SLAB_STRIDE + row,
      REPORT_ROW.REPORTER * SLAB_STRIDE + row,
    ];
    for (let report = from; report < to; report++) {
      const bits = flags[report]!;
      words[protocols + report] = (bits & FLAG.FLOW) === 0 ? MISSING : protocol[report]!;
      words[hops + report] = hopCount[report]!;
      if (((bits >>> FLAG.REPORT_SHIFT) & FLAG.REPORT_MASK) === 0) words[reporter + report] = MISSING;
    }
  }

  /** Numbers the hops of a report. @returns the row behind it */
  #positions({ words, spans }: Slab, batch: TelemetryBatch, report: number, record: number, at: number): number {
    const hops = batch.hopCount[report]!;
    const flags = batch.flags[report]!;
    const column = HOP_ROW.HOP * SLAB_STRIDE + at;
    spans[record] = Math.max(1, hops);
    if (hops === 0) {
      words[column] = MISSING;
      return at + 1;
    }
    for (let hop = 0; hop < hops; hop++) words[column + hop] = hop;
    if ((flags & FLAG.OWN) !== 0) words[column + hops - 1] = (hops - 1) | HOP_BIT.OWN;
    return at + hops;
  }
}

/** The number of an address of a report; all ones: it has none. @param column that of its first word */
export function addressOf(addresses: AddressDictionary, batch: TelemetryBatch, report: number, column: number): number {
  const bits = batch.flags[report]!;
  const { reportWords, reportStride } = batch;
  const at = column * reportStride + report;
  if ((bits & (FLAG.IPV6 | FLAG.FLOW)) === FLAG.FLOW) return addresses.ipv4(reportWords[at]!);
  if ((bits & FLAG.IPV6) === 0) return MISSING;
  const [second, third, fourth] = [at + reportStride, at + 2 * reportStride, at + 3 * reportStride];
  return addresses.ipv6(reportWords[at]!, reportWords[second]!, reportWords[third]!, reportWords[fourth]!);
}

function copy({ words, records }: Slab, column: number, source: Uint32Array, from: number, to: number): void {
  words.set(source.subarray(from, to), column * SLAB_STRIDE + records);
}
