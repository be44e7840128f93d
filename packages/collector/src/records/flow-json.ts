import { type CacheGeometry, COMPACT, EXACT, META, REASONS } from '@int/flowcache';
import {
  type PackedText,
  packText,
  putAscii,
  putBrackets,
  putInteger,
  putText,
  putUint32,
  putUint64,
  SLACK_BYTES,
} from './ascii.js';
import { FLOW_KEY_JSON_BYTES, putFlow4, putFlow6 } from './flow-key-json.js';
import { idText } from './id-text.js';
import type { RecordIds } from './ids.js';
import type { RecordNames } from './record-names.js';

const NULL = /* @__PURE__ */ packText('null');
const REASON_TEXTS: readonly PackedText[] = /* @__PURE__ */ REASONS.map((reason) =>
  packText(`","reason":"${reason}","flow":`),
);
const PACKETS = /* @__PURE__ */ packText(',"packets":');
const FIRST = /* @__PURE__ */ packText(',"firstNs":"');
const LAST = /* @__PURE__ */ packText('","lastNs":"');
const PATH_CHANGES = /* @__PURE__ */ packText('","pathChanges":');
const HOPS = /* @__PURE__ */ packText(',"hops":');
const NODE = /* @__PURE__ */ packText(',{"nodeId":');
const PATH_LENGTH = /* @__PURE__ */ packText(',"pathLength":');
const HOPS_BEYOND = /* @__PURE__ */ packText(',"hopsBeyond":');
const END_TO_END = /* @__PURE__ */ packText(',"endToEnd":');
const METRIC = /* @__PURE__ */ packText('{"last":');
const MEAN = /* @__PURE__ */ packText(',"mean":');
const COUNT = /* @__PURE__ */ packText(',"count":');
const OPEN = 0x5b;
const CLOSE = 0x5d;
const BRACE = 0x7d;
const NONE = -1;
const WORD = 0x1_0000_0000;

/** Bytes beside the hops. */
const FLOW_JSON_BYTES = 560 + FLOW_KEY_JSON_BYTES + SLACK_BYTES;
/** Bytes of a position on the path without metrics, and of a metric. */
const HOP_BYTES = 32;
const METRIC_BYTES = 112;

/** Where the statistics of a hop's metric are, in words from the hop's first. */
function statisticsAt(geometry: CacheGeometry, metric: number): { last: number; count: number; sum: number } {
  const { layout, metrics } = geometry;
  const lasts = layout === 'exact' ? 1 : 2;
  return layout === 'exact'
    ? { last: lasts + metric, count: lasts + metrics.length + metric, sum: lasts + 2 * (metrics.length + metric) }
    : { last: lasts + metric, count: 1, sum: lasts + metrics.length + metric };
}

/**
 * Writes entries of a flow cache as JSON, byte for byte what `JSON.stringify` makes of their `FlowRecord`. Means that are
 * no integers are made into strings on the way.
 */
export class FlowJson {
  readonly geometry: CacheGeometry;
  readonly #id = idText('flow');
  readonly #names: RecordNames | null;
  readonly #keys: readonly PackedText[];
  readonly #places: readonly { last: number; count: number; sum: number }[];
  /** The metric that takes the place of the switch's id, having its name; -1: none. */
  readonly #nodeMetric: number;
  readonly #float = new Float32Array(1);
  readonly #bits = new Int32Array(this.#float.buffer);

  /**
   * @param geometry of the cache that the entries come from
   * @param names to put beside ids
   */
  constructor(geometry: CacheGeometry, names: RecordNames | null = null) {
    this.#names = names;
    this.geometry = geometry;
    this.#keys = geometry.metrics.map((name) => packText(`,"${name}":`));
    this.#places = geometry.metrics.map((_, metric) => statisticsAt(geometry, metric));
    this.#nodeMetric = geometry.metrics.indexOf('nodeId');
  }

  /** Bytes that the text of an entry takes at most, with the room behind it that writing needs. */
  get bound(): number {
    const { hops, metrics } = this.geometry;
    return FLOW_JSON_BYTES + hops * (HOP_BYTES + (this.#names?.nodeBytes ?? 0) + metrics.length * METRIC_BYTES);
  }

  /**
   * Writes the entry at word `entry`.
   * @param view has at least {@link bound} bytes from `start` on
   * @param number of the record in `ids`
   * @returns the position behind the text
   */
  write(view: DataView, start: number, words: Int32Array, entry: number, ids: RecordIds, number: number): number {
    const isExact = this.geometry.layout === 'exact';
    const fields = isExact ? EXACT : COMPACT;
    const meta = words[entry + fields.META]!;
    let at = putInteger(view, putText(view, start, this.#id(ids)), number);
    at = putText(view, at, REASON_TEXTS[meta >>> META.REASON_SHIFT] ?? REASON_TEXTS[0]!);
    at = this.#flow(view, at, words, entry, meta);
    at = putUint32(view, putText(view, at, PACKETS), words[entry + fields.PACKETS]!);
    at = putTime(view, putText(view, at, FIRST), words, entry + fields.FIRST);
    at = putTime(view, putText(view, at, LAST), words, entry + fields.LAST);
    at = putUint32(view, putText(view, at, PATH_CHANGES), words[entry + fields.PATH_CHANGES]!);
    at = this.#hops(view, putText(view, at, HOPS), words, entry, meta);
    at = putUint32(view, putText(view, at, PATH_LENGTH), (meta >>> META.LENGTH_SHIFT) & META.LENGTH_MASK);
    at = putText(view, at, HOPS_BEYOND);
    at = isExact ? putUint32(view, at, words[entry + EXACT.BEYOND]!) : putText(view, at, NULL);
    at = putText(view, at, END_TO_END);
    const count = isExact ? words[entry + EXACT.END_TO_END_COUNT]! >>> 0 : 0;
    if (count === 0) {
      at = putText(view, at, NULL);
    } else {
      at = putUint32(view, putText(view, at, METRIC), words[entry + EXACT.END_TO_END]!);
      at = this.#rest(view, at, exactMean(words, entry + EXACT.END_TO_END_SUM, count), count);
    }
    view.setUint8(at, BRACE);
    return at + 1;
  }

  #flow(view: DataView, at: number, words: Int32Array, entry: number, meta: number): number {
    const fields = this.geometry.layout === 'exact' ? EXACT : COMPACT;
    const source = entry + fields.SOURCE;
    const destination = entry + fields.DESTINATION;
    const protocol = meta & META.PROTOCOL_MASK;
    const ports = words[entry + fields.PORTS]!;
    return (meta & META.IPV6) === 0
      ? putFlow4(view, at, words[source]!, words[destination]!, protocol, ports)
      : putFlow6(view, at, words, source, destination, 1, protocol, ports);
  }

  #hops(view: DataView, start: number, words: Int32Array, entry: number, meta: number): number {
    const { hopsAt, hopStride } = this.geometry;
    const seen = (meta >>> META.SEEN_SHIFT) & META.SEEN_MASK;
    let at = start;
    for (let hop = 0; hop < seen; hop++) at = this.#hop(view, at, words, entry + hopsAt + hop * hopStride);
    return putBrackets(view, start, at, OPEN, CLOSE);
  }

  #hop(view: DataView, start: number, words: Int32Array, hop: number): number {
    const metrics = this.#places.length;
    const named = this.#nodeMetric;
    let at = putText(view, start, NODE);
    if (named >= 0 && words[hop + this.#places[named]!.count] !== 0) at = this.#metric(view, at, words, hop, named);
    else if (words[hop] === NONE) at = putText(view, at, NULL);
    else {
      at = putUint32(view, at, words[hop]!);
      if (this.#names !== null) at = this.#names.putNode(view, at, words[hop]!);
    }
    for (let metric = 0; metric < metrics; metric++) {
      if (metric === named || words[hop + this.#places[metric]!.count] === 0) continue;
      at = this.#metric(view, putText(view, at, this.#keys[metric]!), words, hop, metric);
    }
    view.setUint8(at, BRACE);
    return at + 1;
  }

  #metric(view: DataView, start: number, words: Int32Array, hop: number, metric: number): number {
    const place = this.#places[metric]!;
    const count = words[hop + place.count]! >>> 0;
    const last = words[hop + place.last]!;
    let at = putText(view, start, METRIC);
    at = last === NONE ? putText(view, at, NULL) : putUint32(view, at, last);
    return this.#rest(view, at, this.#mean(words, hop + place.sum, count), count);
  }

  #mean(words: Int32Array, at: number, count: number): number {
    if (this.geometry.layout === 'exact') return exactMean(words, at, count);
    this.#bits[0] = words[at]!;
    return this.#float[0]!;
  }

  /** Mean and count. */
  #rest(view: DataView, start: number, mean: number, count: number): number {
    let at = putText(view, start, MEAN);
    if (Number.isSafeInteger(mean) && mean >= 0) at = putInteger(view, at, mean);
    else at = Number.isFinite(mean) ? putAscii(view, at, String(mean)) : putText(view, at, NULL);
    at = putUint32(view, putText(view, at, COUNT), count | 0);
    view.setUint8(at, BRACE);
    return at + 1;
  }
}

function exactMean(words: Int32Array, at: number, count: number): number {
  return ((words[at + 1]! >>> 0) * WORD + (words[at]! >>> 0)) / count;
}

function putTime(view: DataView, at: number, words: Int32Array, word: number): number {
  return putUint64(view, at, words[word + 1]!, words[word]!);
}
