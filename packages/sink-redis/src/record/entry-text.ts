import { COMPACT, EXACT, type Geometry, META, REASONS } from '@int/flowcache';
import type { AsciiWriter } from './ascii-writer.js';

const encoder = /* @__PURE__ */ new TextEncoder();
const REASON_TEXTS: readonly Uint8Array[] = /* @__PURE__ */ REASONS.map((reason) => encoder.encode(reason));
const COMMA = 0x2c;

/** Bytes of one entry at most, its texts with their lengths. */
export function entryTextBytes(geometry: Geometry): number {
  const { hops, metrics } = geometry;
  // Before the hops: 10 short texts, of which the flow has at most 99 characters and numbers of 64 bits 20; the path.
  // A mean of the compact layout has up to 24 characters.
  return 360 + hops * 11 + hops * (11 + metrics.length * (11 + 11 + 25));
}

/**
 * Turns entries into texts: flow, reason, packets, path changes, path length, hops beyond, first, last, path,
 * end-to-end last, count and sum; a byte with the number of hops; for each hop the node id, and for each metric of it
 * last value, count, and sum (exact layout) or mean (compact layout). What is not known is empty.
 */
export class EntryText {
  readonly #geometry: Geometry;
  readonly #float = new Float32Array(1);
  readonly #bits = new Int32Array(this.#float.buffer);

  constructor(geometry: Geometry) {
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
    out.open();
    out.put(REASON_TEXTS[meta >>> META.REASON_SHIFT] ?? REASON_TEXTS[0]!);
    out.close();
    uint32(out, words[at + fields.PACKETS]!);
    uint32(out, words[at + fields.PATH_CHANGES]!);
    uint32(out, length);
    out.open();
    if (isExact) out.uint32(words[at + EXACT.BEYOND]!);
    out.close();
    uint64(out, words, at + fields.FIRST);
    uint64(out, words, at + fields.LAST);
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
    const isKnown = this.#geometry.layout === 'exact' && words[at + EXACT.END_TO_END_COUNT] !== 0;
    out.open();
    if (isKnown) out.uint32(words[at + EXACT.END_TO_END]!);
    out.close();
    out.open();
    if (isKnown) out.uint32(words[at + EXACT.END_TO_END_COUNT]!);
    out.close();
    out.open();
    if (isKnown) out.uint64(words[at + EXACT.END_TO_END_SUM]!, words[at + EXACT.END_TO_END_SUM + 1]!);
    out.close();
  }

  #hop(out: AsciiWriter, words: Int32Array, hop: number): void {
    const metrics = this.#geometry.metrics.length;
    known(out, words[hop]!);
    if (this.#geometry.layout === 'exact') {
      const counts = hop + 1 + metrics;
      for (let metric = 0; metric < metrics; metric++) {
        known(out, words[hop + 1 + metric]!);
        uint32(out, words[counts + metric]!);
        uint64(out, words, counts + metrics + 2 * metric);
      }
    } else {
      for (let metric = 0; metric < metrics; metric++) {
        known(out, words[hop + 2 + metric]!);
        uint32(out, words[hop + 1]!);
        this.#bits[0] = words[hop + 2 + metrics + metric]!;
        out.open();
        out.ascii(String(this.#float[0]));
        out.close();
      }
    }
  }
}

function uint32(out: AsciiWriter, word: number): void {
  out.open();
  out.uint32(word);
  out.close();
}

function uint64(out: AsciiWriter, words: Int32Array, at: number): void {
  out.open();
  out.uint64(words[at]!, words[at + 1]!);
  out.close();
}

/** A value that is empty if it is all ones. */
function known(out: AsciiWriter, word: number): void {
  out.open();
  if (word !== -1) out.uint32(word);
  out.close();
}
