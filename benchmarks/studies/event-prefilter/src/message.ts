/** Messages for a message bus: one JSON object per report, as UTF-8 bytes. */
import { FIELDS, type Field, FLAG, formatIpv6, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';

/** No message is longer: that of 256 hops with all items. */
const MAX_BYTES = 1 << 17;

/** A piece of text as words of four bytes; what goes beyond its length is overwritten by what follows it. */
interface Piece {
  readonly words: Uint32Array;
  readonly length: number;
}

function piece(text: string): Piece {
  const bytes = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 4) * 4));
  const view = new DataView(bytes.buffer);
  return {
    words: Uint32Array.from({ length: bytes.length / 4 }, (_, k) => view.getUint32(4 * k)),
    length: text.length,
  };
}

/** Numbers from 0 to 9999 as text: without and with leading zeros. */
const PLAIN = /* @__PURE__ */ Uint32Array.from({ length: 10_000 }, (_, k) => piece(String(k)).words[0]!);
const PADDED = /* @__PURE__ */ Uint32Array.from(
  { length: 10_000 },
  (_, k) => piece(String(k).padStart(4, '0')).words[0]!,
);

/** A field is left out where it is not available. Those that INT v2 has no instruction for are in no hop. */
const ITEMS: readonly Field[] = FIELDS.filter(
  ({ at, isReserved }) => at['2'] !== undefined && at['2'] < 9 && isReserved !== true,
);

interface Item {
  readonly isTime: boolean;
  /** First cell of the column. */
  readonly column: number;
  readonly name: Piece;
}

/**
 * Builds messages out of the columns of one batch, each at the start of the same buffer: it is there until the next one.
 *
 * `{"node":7,"sequence":1,"flow":{...},"hops":[{"nodeId":7,"queueId":0,"queueOccupancy":12}]}`, with the names of the
 * codec's records; 64-bit timestamps are texts. Nothing is allocated for IPv4.
 */
export class MessageWriter {
  /** The message built last. */
  readonly bytes = new Uint8Array(MAX_BYTES);
  readonly #view = new DataView(this.bytes.buffer);
  readonly #batch: TelemetryBatch;
  readonly #plans = new Map<number, readonly Item[]>();
  #bitmap = -1;
  #items: readonly Item[] = [];
  #at = 0;
  readonly #node = piece('{"node":');
  readonly #sequence = piece(',"sequence":');
  readonly #source = piece(',"flow":{"source":"');
  readonly #destination = piece('","destination":"');
  readonly #protocol = piece('","protocol":');
  readonly #sourcePort = piece(',"sourcePort":');
  readonly #destinationPort = piece(',"destinationPort":');
  readonly #hops = piece('},"hops":[');
  readonly #noFlow = piece(',"hops":[');

  constructor(batch: TelemetryBatch) {
    this.#batch = batch;
  }

  /** Builds the message of a report row. @returns its length in bytes */
  write(row: number): number {
    const batch = this.#batch;
    this.#at = 0;
    this.#piece(this.#node);
    this.#number(batch.nodeId[row]!);
    this.#piece(this.#sequence);
    this.#number(batch.sequence[row]!);
    const flags = batch.flags[row]!;
    if ((flags & FLAG.FLOW) === 0) this.#piece(this.#noFlow);
    else {
      this.#piece(this.#source);
      if ((flags & FLAG.IPV6) === 0) this.#ipv4(batch.source0[row]!);
      else this.#text(formatIpv6(batch.source0[row]!, batch.source1[row]!, batch.source2[row]!, batch.source3[row]!));
      this.#piece(this.#destination);
      if ((flags & FLAG.IPV6) === 0) this.#ipv4(batch.destination0[row]!);
      else {
        const { destination0, destination1, destination2, destination3 } = batch;
        this.#text(formatIpv6(destination0[row]!, destination1[row]!, destination2[row]!, destination3[row]!));
      }
      this.#piece(this.#protocol);
      this.#number(batch.protocol[row]!);
      this.#piece(this.#sourcePort);
      this.#number(batch.ports[row]! >>> 16);
      this.#piece(this.#destinationPort);
      this.#number(batch.ports[row]! & 0xffff);
      this.#piece(this.#hops);
    }
    const instructions = batch.instructions[row]!;
    const own = (flags & FLAG.OWN) === 0 ? 0 : (instructions & 0xffff) | 0x8000;
    const bitmap = (instructions >>> 16) | own;
    if (bitmap !== this.#bitmap) this.#plan(bitmap);
    const first = batch.hopStart[row]!;
    const end = first + batch.hopCount[row]!;
    for (let hop = first; hop < end; hop++) {
      if (hop !== first) this.#byte(0x2c);
      this.#hop(hop);
    }
    this.#byte(0x5d);
    this.#byte(0x7d);
    return this.#at;
  }

  #plan(bitmap: number): void {
    let items = this.#plans.get(bitmap);
    if (items === undefined) {
      items = ITEMS.filter(({ at }) => (bitmap & (0x8000 >>> at['2']!)) !== 0).map(({ name, bits, column }) => ({
        isTime: bits === 64,
        column: column * this.#batch.hopStride,
        name: piece(`,"${name}":${bits === 64 ? '"' : ''}`),
      }));
      this.#plans.set(bitmap, items);
    }
    this.#items = items;
    this.#bitmap = bitmap;
  }

  #hop(hop: number): void {
    const { hopWords, hopStride } = this.#batch;
    const start = this.#at;
    const items = this.#items;
    // Without an item: room for the brace that stands in for the first comma.
    this.#at++;
    let isEmpty = true;
    for (let k = 0; k < items.length; k++) {
      const { isTime, column, name } = items[k]!;
      const word = hopWords[column + hop]!;
      if (isTime) {
        const low = hopWords[column + hopStride + hop]!;
        if (word === NOT_AVAILABLE && low === NOT_AVAILABLE) continue;
        if (isEmpty) this.#at--;
        isEmpty = false;
        this.#piece(name);
        this.#wide(word, low);
        this.#byte(0x22);
        continue;
      }
      if (word === NOT_AVAILABLE) continue;
      if (isEmpty) this.#at--;
      isEmpty = false;
      this.#piece(name);
      this.#number(word);
    }
    this.bytes[start] = 0x7b;
    this.#byte(0x7d);
  }

  #byte(byte: number): void {
    this.bytes[this.#at++] = byte;
  }

  #piece({ words, length }: Piece): void {
    const at = this.#at;
    for (let k = 0; k < words.length; k++) this.#view.setUint32(at + 4 * k, words[k]!);
    this.#at = at + length;
  }

  #text(text: string): void {
    this.#at += new TextEncoder().encodeInto(text, this.bytes.subarray(this.#at)).written;
  }

  /** Up to four digits, without leading zeros. */
  #plain(value: number): void {
    this.#view.setUint32(this.#at, PLAIN[value]!);
    this.#at += value < 10 ? 1 : value < 100 ? 2 : value < 1000 ? 3 : 4;
  }

  /** Four digits. */
  #padded(value: number): void {
    this.#view.setUint32(this.#at, PADDED[value]!);
    this.#at += 4;
  }

  /** Eight digits. */
  #eight(value: number): void {
    const high = (value / 10_000) | 0;
    this.#padded(high);
    this.#padded(value - high * 10_000);
  }

  /** 32 bits. */
  #number(value: number): void {
    if (value < 10_000) {
      this.#plain(value);
      return;
    }
    if (value < 100_000_000) {
      const high = (value / 10_000) | 0;
      this.#plain(high);
      this.#padded(value - high * 10_000);
      return;
    }
    const high = (value / 100_000_000) | 0;
    this.#plain(high);
    this.#eight(value - high * 100_000_000);
  }

  #ipv4(word: number): void {
    this.#plain(word >>> 24);
    this.#byte(0x2e);
    this.#plain((word >>> 16) & 0xff);
    this.#byte(0x2e);
    this.#plain((word >>> 8) & 0xff);
    this.#byte(0x2e);
    this.#plain(word & 0xff);
  }

  /** 64 bits. All divisions are of whole numbers below 2^53, and exact. */
  #wide(high: number, low: number): void {
    const million = 1_000_000;
    const highQuotient = (high / million) | 0;
    const rest = (high - highQuotient * million) * 2 ** 32 + low;
    const lowQuotient = Math.floor(rest / million);
    const last = rest - lowQuotient * million;
    // What stands before the last six digits: at most 14 digits.
    const quotient = highQuotient * 2 ** 32 + lowQuotient;
    if (quotient === 0) {
      this.#number(last);
      return;
    }
    const first = (quotient / 100_000_000) | 0;
    const middle = (quotient - first * 100_000_000) | 0;
    if (first === 0) this.#number(middle);
    else {
      this.#number(first);
      this.#eight(middle);
    }
    const upper = (last / 10_000) | 0;
    this.#byte(0x30 + ((upper / 10) | 0));
    this.#byte(0x30 + (upper % 10));
    this.#padded((last - upper * 10_000) | 0);
  }
}
