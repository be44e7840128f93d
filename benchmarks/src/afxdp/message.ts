/**
 * The message that a monitor makes of a report: key and value of a Kafka record, as a producer takes them. The C twin is
 * `benchmarks/native/receivers/message.c`.
 *
 * Big-endian. The key is the monitored flow, so that all reports of a flow go to one partition; the value is the report
 * with its hops, in path order, and of each hop the items that were asked for.
 *
 * | byte | bytes | |
 * |---:|---:|---|
 * | 0 | 4 + 4 | IPv4 source, destination |
 * | 8 | 1 | protocol |
 * | 9 | 2 + 2 | source port, destination port |
 * | 13 | 1 | version of the value, 1 |
 * | 14 | 1 | hops |
 * | 15 | 2 | instruction bitmap: which items follow for each hop, in this order |
 * | 17 | 4 + 4 | reporting node, sequence number |
 * | 25 | 4 x words x hops | the items, a word for each field of at most 32 bits, two for one of 64; all ones where a hop lacks one |
 */
import { FIELDS, FLAG, HOP_COLUMNS, type TelemetryBatch } from '@int/codec';

export const KEY_BYTES = 13;
/** 256 hops with all 22 words. */
const MOST_BYTES = 25 + 4 * 256 * 22;
const VERSION = 1;
const NODE_BIT = 0x8000;

/** Columns of the fields of each instruction bit of INT v2. */
const COLUMNS: readonly (readonly number[])[] = Array.from({ length: 16 }, (_, bit) =>
  FIELDS.filter(({ at }) => at['2'] === bit).flatMap(({ column, bits }) =>
    bits === 64 ? [column, column + 1] : [column],
  ),
);

/** Builds messages of the rows of one batch, each over the one before. Allocates nothing per message. */
export class MessageBuilder {
  /** The message built last. */
  readonly bytes = new Uint8Array(MOST_BYTES);
  readonly #view = new DataView(this.bytes.buffer);
  readonly #batch: TelemetryBatch;
  /** First cell, in the batch's hop words, of each column of `#items`. */
  readonly #columns = new Int32Array(HOP_COLUMNS.length);
  #words = 0;
  #items = -1;

  constructor(batch: TelemetryBatch) {
    this.#batch = batch;
  }

  /**
   * Builds the message of a report of an IPv4 flow.
   * @returns its length in bytes
   */
  build(row: number): number {
    const batch = this.#batch;
    const view = this.#view;
    const { hopWords } = batch;
    const hops = batch.hopCount[row]!;
    const first = batch.hopStart[row]!;
    const instructions = batch.instructions[row]!;
    let items = instructions >>> 16;
    // The reporting node's own row has its id and its own items.
    if ((batch.flags[row]! & FLAG.OWN) !== 0) items |= (instructions & 0xffff) | NODE_BIT;
    if (items !== this.#items) this.#plan(items);
    view.setUint32(0, batch.source0[row]!);
    view.setUint32(4, batch.destination0[row]!);
    view.setUint8(8, batch.protocol[row]!);
    view.setUint32(9, batch.ports[row]!);
    view.setUint8(13, VERSION);
    view.setUint8(14, hops);
    view.setUint16(15, items);
    view.setUint32(17, batch.nodeId[row]!);
    view.setUint32(21, batch.sequence[row]!);
    const columns = this.#columns;
    const words = this.#words;
    const end = first + hops;
    let at = 25;
    for (let hop = first; hop < end; hop++) {
      for (let k = 0; k < words; k++) {
        view.setUint32(at, hopWords[(columns[k]! + hop) | 0]!);
        at += 4;
      }
    }
    return at;
  }

  #plan(items: number): void {
    let words = 0;
    for (let bit = 0; bit < 16; bit++) {
      if ((items & (NODE_BIT >>> bit)) === 0) continue;
      for (const column of COLUMNS[bit]!) this.#columns[words++] = column * this.#batch.hopStride;
    }
    this.#words = words;
    this.#items = items;
  }
}
