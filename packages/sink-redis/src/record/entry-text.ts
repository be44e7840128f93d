import { type CacheGeometry, COMPACT, EXACT, META, REASONS } from '@int/flowcache';
import type { AsciiWriter } from './ascii-writer.js';

const encoder = /* @__PURE__ */ new TextEncoder();
const REASON_TEXTS: readonly Uint8Array[] = /* @__PURE__ */ REASONS.map((reason) => encoder.encode(reason));
const COMMA = 0x2c;
const SPACE = 0x20;
const DASH = 0x2d;

/** Most bytes of one entry: its texts with their lengths. */
export function entryTextBytes(geometry: CacheGeometry): number {
  const { hops, metrics } = geometry;
  // Before the hops: the flow with at most 99 characters, numbers, statistics, and the path. Statistics: two numbers of
  // 32 bits, a mean of up to 24 characters, a sum of 64 bits, spaces between them and the length.
  return 360 + hops * 11 + hops * (11 + metrics.length * 70);
}

/**
 * Turns entries into texts: flow, reason, packets, path changes, path length, hops beyond, first, last, path,
 * end-to-end latency; a byte with the number of hops; for each hop the node id and each metric. Unknown values are
 * empty.
 *
 * A metric is its last value, mean, count and sum with spaces between them, and `-` for unknown values, as Redis stores
 * it.
 */
export class EntryText {
  readonly #geometry: CacheGeometry;
  readonly #float = new Float32Array(1);
  readonly #bits = new Int32Array(this.#float.buffer);

  constructor(geometry: CacheGeometry) {
    this.#geometry = geometry;
  }

  write(out: AsciiWriter, words: Int32Array, at: number): void {
    const { layout, hops, hopsAt, hopStride } = this.#geometry;
    const isExact = layout === 'exact';
    const fields = isExact ? EXACT : COMPACT;
    const meta = words[at + fields.META]!;
    const length = (meta >>> META.LENGTH_SHIFT) & META.LENGTH_MASK;
    const seen = Math.min((meta >>> META.SEEN_SHIFT) & META.SEEN_MASK, hops);
    out.open();
    out.flow(
      words,
      at + fields.SOURCE,
      at + fields.DESTINATION,
      words[at + fields.PORTS]!,
      meta & META.PROTOCOL_MASK,
      (meta & META.IPV6) !== 0,
    );
    out.close();
    out.text(REASON_TEXTS[meta >>> META.REASON_SHIFT] ?? REASON_TEXTS[0]!);
    out.number(words[at + fields.PACKETS]!);
    out.number(words[at + fields.PATH_CHANGES]!);
    out.number(length);
    out.number(words[at + EXACT.BEYOND]!, isExact);
    out.number64(words, at + fields.FIRST);
    out.number64(words, at + fields.LAST);
    this.#path(out, words, at + hopsAt, Math.min(length, seen));
    this.#endToEnd(out, words, at);
    out.byte(seen);
    for (let hop = 0; hop < seen; hop++) this.#hop(out, words, at + hopsAt + hop * hopStride);
  }

  #path(out: AsciiWriter, words: Int32Array, hops: number, length: number): void {
    out.openLong();
    for (let hop = 0; hop < length; hop++) {
      if (hop > 0) out.byte(COMMA);
      const node = words[hops + hop * this.#geometry.hopStride]!;
      if (node !== -1) out.uint32(node);
    }
    out.close();
  }

  #endToEnd(out: AsciiWriter, words: Int32Array, at: number): void {
    out.open();
    if (this.#geometry.layout === 'exact' && words[at + EXACT.END_TO_END_COUNT] !== 0) {
      out.uint32(words[at + EXACT.END_TO_END]!);
      this.#exact(out, words, at + EXACT.END_TO_END_COUNT, at + EXACT.END_TO_END_SUM);
    }
    out.close();
  }

  #hop(out: AsciiWriter, words: Int32Array, hop: number): void {
    const metrics = this.#geometry.metrics.length;
    const isExact = this.#geometry.layout === 'exact';
    const lasts = hop + (isExact ? 1 : 2);
    out.number(words[hop]!, words[hop] !== -1);
    for (let metric = 0; metric < metrics; metric++) {
      const count = isExact ? lasts + metrics + metric : hop + 1;
      out.open();
      if (words[count] !== 0) {
        if (words[lasts + metric] === -1) out.byte(DASH);
        else out.uint32(words[lasts + metric]!);
        if (isExact) this.#exact(out, words, count, lasts + 2 * metrics + 2 * metric);
        else this.#compact(out, words, count, lasts + metrics + metric);
      }
      out.close();
    }
  }

  #exact(out: AsciiWriter, words: Int32Array, count: number, sum: number): void {
    const mean = ((words[sum + 1]! >>> 0) * 2 ** 32 + (words[sum]! >>> 0)) / (words[count]! >>> 0);
    out.byte(SPACE);
    // A larger mean is impossible for values of 32 bits.
    if (mean < 2 ** 32 - 1) out.decimal(mean);
    else out.ascii(String(mean));
    out.byte(SPACE);
    out.uint32(words[count]!);
    out.byte(SPACE);
    out.uint64(words[sum]!, words[sum + 1]!);
  }

  #compact(out: AsciiWriter, words: Int32Array, count: number, mean: number): void {
    this.#bits[0] = words[mean]!;
    out.byte(SPACE);
    out.ascii(String(this.#float[0]));
    out.byte(SPACE);
    out.uint32(words[count]!);
    out.byte(SPACE);
    out.byte(DASH);
  }
}
