import type { RecordIds } from '@int/collector';
import { type CacheGeometry, COMPACT, EXACT, META, REASONS } from '@int/flowcache';
import type { NodeNames } from './node-names.js';
import { putBytesField } from './protobuf-event.js';
import { putFlow, putId } from './protobuf-report.js';
import type { MessageSlab } from './slab.js';
import { closeField, putField, putFixed64, putTextField, tagOf, WIRE } from './wire.js';

const SUMMARY_FIELD = {
  INSTANCE: 1,
  NUMBER: 2,
  REASON: 3,
  FLOW: 4,
  PACKETS: 5,
  FIRST: 6,
  LAST: 7,
  PATH_CHANGES: 8,
  PATH_LENGTH: 9,
  HOPS_BEYOND: 10,
  END_TO_END: 11,
  HOPS: 12,
} as const;

const FLOW_HOP_FIELD = { NODE: 1, METRICS: 2, NODE_NAME: 3 } as const;

const METRIC_FIELD = { NAME: 1, LAST: 2, MEAN: 3, COUNT: 4 } as const;

const encoder = /* @__PURE__ */ new TextEncoder();
const REASON_NAMES: readonly Uint8Array[] = /* @__PURE__ */ REASONS.map((reason) => encoder.encode(reason));
const NO_NAME = /* @__PURE__ */ new Uint8Array(0);
const NONE = -1;
const WORD = 0x1_0000_0000;

/** Bytes beside the hops, of a hop without metrics, and of a metric. */
const SUMMARY_BYTES = 320;
const HOP_BYTES = 16;
const METRIC_BYTES = 64;

function putCount(bytes: Uint8Array, at: number, field: number, word: number): number {
  return word === 0 ? at : putField(bytes, at, tagOf(field, WIRE.VARINT), word);
}

function putTime(view: DataView, at: number, field: number, words: Int32Array, word: number): number {
  const high = words[word + 1]!;
  const low = words[word]!;
  return (high | low) === 0 ? at : putFixed64(view, at, tagOf(field, WIRE.FIXED64), high, low);
}

export class ProtobufFlow {
  readonly #names: readonly Uint8Array[];
  readonly #float = new Float32Array(1);
  readonly #bits = new Int32Array(this.#float.buffer);

  readonly #nodes: NodeNames | null;

  /**
   * @param geometry of the cache that the entries come from
   * @param nodes names to put beside ids
   */
  constructor(
    readonly geometry: CacheGeometry,
    nodes: NodeNames | null,
  ) {
    this.#nodes = nodes;
    this.#names = geometry.metrics.map((name) => encoder.encode(name));
  }

  get bound(): number {
    const { hops, metrics } = this.geometry;
    return SUMMARY_BYTES + hops * (HOP_BYTES + metrics.length * METRIC_BYTES + (this.#nodes?.nodeBytes ?? 0));
  }

  write(slab: MessageSlab, start: number, words: Int32Array, entry: number, ids: RecordIds): number {
    const { bytes, view } = slab;
    const isExact = this.geometry.layout === 'exact';
    const fields = isExact ? EXACT : COMPACT;
    const meta = words[entry + fields.META]!;
    let at = putId(slab, start, ids);
    at = putBytesField(bytes, at, SUMMARY_FIELD.REASON, REASON_NAMES[meta >>> META.REASON_SHIFT] ?? REASON_NAMES[0]!);
    at = putFlow(
      slab,
      at,
      tagOf(SUMMARY_FIELD.FLOW, WIRE.BYTES),
      words,
      entry + fields.SOURCE,
      entry + fields.DESTINATION,
      1,
      (meta & META.IPV6) !== 0,
      meta & META.PROTOCOL_MASK,
      words[entry + fields.PORTS]!,
    );
    at = putCount(bytes, at, SUMMARY_FIELD.PACKETS, words[entry + fields.PACKETS]!);
    at = putTime(view, at, SUMMARY_FIELD.FIRST, words, entry + fields.FIRST);
    at = putTime(view, at, SUMMARY_FIELD.LAST, words, entry + fields.LAST);
    at = putCount(bytes, at, SUMMARY_FIELD.PATH_CHANGES, words[entry + fields.PATH_CHANGES]!);
    at = putCount(bytes, at, SUMMARY_FIELD.PATH_LENGTH, (meta >>> META.LENGTH_SHIFT) & META.LENGTH_MASK);
    if (isExact) {
      at = putField(bytes, at, tagOf(SUMMARY_FIELD.HOPS_BEYOND, WIRE.VARINT), words[entry + EXACT.BEYOND]!);
      const count = words[entry + EXACT.END_TO_END_COUNT]!;
      if (count !== 0) {
        const mean = exactMean(words, entry + EXACT.END_TO_END_SUM, count);
        const tag = tagOf(SUMMARY_FIELD.END_TO_END, WIRE.BYTES);
        // A saturated sum is a value, not a missing one.
        at = this.#metric(slab, at, tag, NO_NAME, words[entry + EXACT.END_TO_END]!, true, mean, count);
      }
    }
    const seen = (meta >>> META.SEEN_SHIFT) & META.SEEN_MASK;
    const { hopsAt, hopStride } = this.geometry;
    for (let hop = 0; hop < seen; hop++) at = this.#hop(slab, at, words, entry + hopsAt + hop * hopStride);
    return at;
  }

  #hop(slab: MessageSlab, start: number, words: Int32Array, hop: number): number {
    const { bytes } = slab;
    const isExact = this.geometry.layout === 'exact';
    const metrics = this.#names.length;
    const lasts = hop + (isExact ? 1 : 2);
    const tag = tagOf(FLOW_HOP_FIELD.METRICS, WIRE.BYTES);
    bytes[start] = tagOf(SUMMARY_FIELD.HOPS, WIRE.BYTES);
    const body = start + 2;
    let at = body;
    if (words[hop] !== NONE) at = putField(bytes, at, tagOf(FLOW_HOP_FIELD.NODE, WIRE.VARINT), words[hop]!);
    for (let metric = 0; metric < metrics; metric++) {
      const count = words[isExact ? lasts + metrics + metric : hop + 1]!;
      if (count === 0) continue;
      const mean = isExact
        ? exactMean(words, lasts + 2 * (metrics + metric), count)
        : this.#compactMean(words[lasts + metrics + metric]!);
      const last = words[lasts + metric]!;
      at = this.#metric(slab, at, tag, this.#names[metric]!, last, last !== NONE, mean, count);
    }
    if (words[hop] !== NONE) at = putTextField(bytes, at, FLOW_HOP_FIELD.NODE_NAME, this.#nodes?.node(words[hop]!));
    return closeField(bytes, body, at);
  }

  #metric(
    { bytes, view }: MessageSlab,
    start: number,
    tag: number,
    name: Uint8Array,
    last: number,
    hasLast: boolean,
    mean: number,
    count: number,
  ): number {
    bytes[start] = tag;
    const body = start + 2;
    let at = name.length === 0 ? body : putBytesField(bytes, body, METRIC_FIELD.NAME, name);
    if (hasLast) at = putField(bytes, at, tagOf(METRIC_FIELD.LAST, WIRE.VARINT), last);
    if (mean !== 0) {
      bytes[at] = tagOf(METRIC_FIELD.MEAN, WIRE.FIXED64);
      view.setFloat64(at + 1, mean, true);
      at += 9;
    }
    at = putField(bytes, at, tagOf(METRIC_FIELD.COUNT, WIRE.VARINT), count);
    return closeField(bytes, body, at);
  }

  #compactMean(word: number): number {
    this.#bits[0] = word;
    return this.#float[0]!;
  }
}

function exactMean(words: Int32Array, at: number, count: number): number {
  return ((words[at + 1]! >>> 0) * WORD + (words[at]! >>> 0)) / (count >>> 0);
}
