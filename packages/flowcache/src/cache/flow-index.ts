/** Finds flows: from key to row, tag and bucket. */

import { FLAG, type Flow, parseAddress } from '@int/codec';
import { REPORT_COLUMN, type SignedColumns } from '@int/codec/internals';
import { flowCrc32Ipv4, flowCrc32Ipv6, flowXxh32Ipv4, flowXxh32Ipv6 } from '@int/hash';
import { type CacheGeometry, COMPACT, EXACT, fieldsOf, type HashName, type LayoutName, META } from '../layout.js';

const KEY_META = META.PROTOCOL_MASK | META.IPV6;

/** A flow as the words that a bucket holds of it. */
export class FlowKey {
  /**
   * Source address, then destination address, 4 words each. An IPv4 address is the first of them, and the others are 0.
   */
  readonly addresses = new Int32Array(8);
  ports = 0;
  /** Protocol and IPv6 bit, see META. */
  meta = 0;

  get isIpv6(): boolean {
    return (this.meta & META.IPV6) !== 0;
  }

  /** Takes the flow of a row. */
  read(columns: SignedColumns, row: number): void {
    const { report, reportStride } = columns;
    const { addresses } = this;
    const source = REPORT_COLUMN.SOURCE * reportStride + row;
    const destination = REPORT_COLUMN.DESTINATION * reportStride + row;
    const isIpv6 = (report[REPORT_COLUMN.FLAGS * reportStride + row]! & FLAG.IPV6) !== 0;
    addresses[0] = report[source]!;
    addresses[4] = report[destination]!;
    if (isIpv6) {
      addresses[1] = report[source + reportStride]!;
      addresses[2] = report[source + 2 * reportStride]!;
      addresses[3] = report[source + 3 * reportStride]!;
      addresses[5] = report[destination + reportStride]!;
      addresses[6] = report[destination + 2 * reportStride]!;
      addresses[7] = report[destination + 3 * reportStride]!;
    } else {
      addresses[1] = addresses[2] = addresses[3] = 0;
      addresses[5] = addresses[6] = addresses[7] = 0;
    }
    this.ports = report[REPORT_COLUMN.PORTS * reportStride + row]!;
    this.meta = columns.protocol[row]! | (isIpv6 ? META.IPV6 : 0);
  }

  /**
   * Takes a flow as an object has it.
   * @throws AddressError if an address is none; RangeError if they are of different versions
   */
  set(flow: Flow): void {
    const source = parseAddress(flow.source);
    const destination = parseAddress(flow.destination);
    if (source.version !== destination.version) {
      throw new RangeError(`${flow.source} and ${flow.destination} are addresses of different versions`);
    }
    this.addresses.fill(0);
    this.addresses.set(source.words, 0);
    this.addresses.set(destination.words, 4);
    this.ports = (flow.sourcePort << 16) | (flow.destinationPort & 0xffff);
    this.meta = (flow.protocol & META.PROTOCOL_MASK) | (source.version === 6 ? META.IPV6 : 0);
  }

  /** Takes the flow of a bucket. */
  copy(words: Int32Array, at: number, layout: LayoutName): void {
    const fields = fieldsOf(layout);
    this.addresses.fill(0);
    const addressWords = layout === 'exact' ? 4 : 1;
    for (let word = 0; word < addressWords; word++) {
      this.addresses[word] = words[at + fields.SOURCE + word]!;
      this.addresses[4 + word] = words[at + fields.DESTINATION + word]!;
    }
    this.ports = words[at + fields.PORTS]!;
    this.meta = words[at + fields.META]! & KEY_META;
  }

  /** The hash of the flow, unsigned. */
  hash(name: HashName, seed: number): number {
    const a = this.addresses;
    const protocol = this.meta & META.PROTOCOL_MASK;
    if (!this.isIpv6) {
      if (name === 'crc32') return flowCrc32Ipv4(a[0]!, a[4]!, protocol, this.ports);
      return flowXxh32Ipv4(a[0]!, a[4]!, protocol, this.ports, seed);
    }
    if (name === 'crc32') {
      return flowCrc32Ipv6(a[0]!, a[1]!, a[2]!, a[3]!, a[4]!, a[5]!, a[6]!, a[7]!, protocol, this.ports);
    }
    return flowXxh32Ipv6(a[0]!, a[1]!, a[2]!, a[3]!, a[4]!, a[5]!, a[6]!, a[7]!, protocol, this.ports, seed);
  }
}

/** Where the flows of a cache are. */
export class FlowIndex {
  readonly geometry: CacheGeometry;
  readonly words: Int32Array;
  readonly #isExact: boolean;

  constructor(words: Int32Array, geometry: CacheGeometry) {
    this.words = words;
    this.geometry = geometry;
    this.#isExact = geometry.layout === 'exact';
  }

  /** Marks a flow of this hash in its row; 0 marks an empty bucket. */
  static tag(hash: number): number {
    return hash === 0 ? 1 : hash | 0;
  }

  /** First word of a row: its tags. */
  rowAt(row: number): number {
    return this.geometry.rowsAt + row * this.geometry.rowStride;
  }

  /** First word of a bucket. */
  bucketAt(row: number, bucket: number): number {
    const { bucketsAt, buckets, bucketStride } = this.geometry;
    return bucketsAt + (row * buckets + bucket) * bucketStride;
  }

  /** The bucket in `row` that holds the flow, or -1. */
  find(row: number, tag: number, key: FlowKey): number {
    const { words } = this;
    const { buckets } = this.geometry;
    const tags = this.rowAt(row);
    for (let bucket = 0; bucket < buckets; bucket++) {
      if (words[tags + bucket] === tag && this.#holds(this.bucketAt(row, bucket), key)) return bucket;
    }
    return -1;
  }

  /** The flows of rows `from` to `to - 1`, each as it is reached: its row, its bucket, and that one's first word. */
  *flows(from: number, to: number): Generator<{ readonly row: number; readonly bucket: number; readonly at: number }> {
    for (let row = from; row < to; row++) {
      for (let bucket = 0; bucket < this.geometry.buckets; bucket++) {
        if (this.words[this.rowAt(row) + bucket] !== 0) yield { row, bucket, at: this.bucketAt(row, bucket) };
      }
    }
  }

  /** The first empty bucket of a row, or -1. */
  findEmpty(row: number): number {
    const tags = this.rowAt(row);
    for (let bucket = 0; bucket < this.geometry.buckets; bucket++) if (this.words[tags + bucket] === 0) return bucket;
    return -1;
  }

  #holds(at: number, key: FlowKey): boolean {
    const { words } = this;
    const { addresses } = key;
    if (!this.#isExact) {
      return (
        words[at + COMPACT.SOURCE] === addresses[0] &&
        words[at + COMPACT.DESTINATION] === addresses[4] &&
        words[at + COMPACT.PORTS] === key.ports &&
        (words[at + COMPACT.META]! & KEY_META) === key.meta
      );
    }
    return (
      words[at] === addresses[0] &&
      words[at + 4] === addresses[4] &&
      words[at + EXACT.PORTS] === key.ports &&
      (words[at + EXACT.META]! & KEY_META) === key.meta &&
      // IPv4: zeros on both sides.
      (!key.isIpv6 || this.#hasRest(at, addresses))
    );
  }

  #hasRest(at: number, addresses: Int32Array): boolean {
    for (let word = 1; word < 4; word++) {
      if (this.words[at + word] !== addresses[word] || this.words[at + 4 + word] !== addresses[4 + word]) return false;
    }
    return true;
  }

  /** Gives a bucket to a new flow, of which only the time of the first report is known. */
  reset(at: number, key: FlowKey, timeLow: number, timeHigh: number): void {
    const { words } = this;
    const { bucketStride, hops, hopStride, hopsAt, metrics } = this.geometry;
    words.fill(0, at, at + bucketStride);
    const { addresses } = key;
    if (this.#isExact) {
      for (let word = 0; word < 8; word++) words[at + EXACT.SOURCE + word] = addresses[word]!;
      words[at + EXACT.PORTS] = key.ports;
      words[at + EXACT.META] = key.meta;
      words[at + EXACT.FIRST] = timeLow;
      words[at + EXACT.FIRST + 1] = timeHigh;
      words[at + EXACT.END_TO_END] = -1;
    } else {
      words[at + COMPACT.SOURCE] = addresses[0]!;
      words[at + COMPACT.DESTINATION] = addresses[4]!;
      words[at + COMPACT.PORTS] = key.ports;
      words[at + COMPACT.META] = key.meta;
      words[at + COMPACT.FIRST] = timeLow;
      words[at + COMPACT.FIRST + 1] = timeHigh;
    }
    const lasts = this.#isExact ? 1 : 2;
    for (let hop = 0; hop < hops; hop++) {
      const node = at + hopsAt + hop * hopStride;
      words[node] = -1;
      for (let metric = 0; metric < metrics.length; metric++) words[node + lasts + metric] = -1;
    }
  }
}
