import type { MetricName } from '@int/codec';
import { EVENT_KIND, EVENT_WORD } from '@int/flowcache';
import type { AsciiWriter } from './ascii-writer.js';

/** Values of the field `metric` for events of the whole path. */
export const WHOLE_PATH = { LATENCY: 'endToEnd', CHANGE: 'path' } as const;

/**
 * Most bytes of one event: the texts with their lengths, and the name of its stream. The longest text is the flow, with
 * 99 characters for two IPv6 addresses.
 */
export const EVENT_TEXT_BYTES = 320;

const encoder = /* @__PURE__ */ new TextEncoder();

/** Texts of all combinations of the three kinds. */
const KIND_TEXTS: readonly Uint8Array[] = /* @__PURE__ */ Array.from({ length: 8 }, (_, bits) =>
  encoder.encode(['threshold', 'change', 'pathChange'].filter((_name, index) => (bits & (1 << index)) !== 0).join(',')),
);

/**
 * Turns event records into texts: time, kinds, metric, hop, node, value, previous, threshold, flow. Unknown values are
 * empty.
 */
export class EventText {
  readonly #metrics: readonly Uint8Array[];
  readonly #latency = encoder.encode(WHOLE_PATH.LATENCY);
  readonly #change = encoder.encode(WHOLE_PATH.CHANGE);
  readonly #none = new Uint8Array(0);

  constructor(metrics: readonly MetricName[]) {
    this.#metrics = metrics.map((name) => encoder.encode(name));
  }

  write(out: AsciiWriter, words: Int32Array, at: number): void {
    const kind = words[at + EVENT_WORD.KIND]!;
    const isWhole = (kind & EVENT_KIND.END_TO_END) !== 0;
    const isPath = (kind & EVENT_KIND.PATH) !== 0;
    out.open();
    out.uint64(words[at + EVENT_WORD.TIME]!, words[at + EVENT_WORD.TIME + 1]!);
    out.close();
    out.open();
    out.put(KIND_TEXTS[kind & 7]!);
    out.close();
    out.open();
    out.put(isPath ? this.#change : isWhole ? this.#latency : this.#metric(kind));
    out.close();
    out.open();
    if (!isWhole) out.uint32((kind >>> EVENT_KIND.HOP_SHIFT) & EVENT_KIND.HOP_MASK);
    out.close();
    out.open();
    if (words[at + EVENT_WORD.NODE] !== -1) out.uint32(words[at + EVENT_WORD.NODE]!);
    out.close();
    out.open();
    out.uint32(words[at + EVENT_WORD.VALUE]!);
    out.close();
    out.open();
    // All ones means unknown, except for a change, where it is a value.
    if (words[at + EVENT_WORD.PREVIOUS] !== -1 || (kind & EVENT_KIND.CHANGE) !== 0)
      out.uint32(words[at + EVENT_WORD.PREVIOUS]!);
    out.close();
    out.open();
    if (!isPath) out.uint32(words[at + EVENT_WORD.THRESHOLD]!);
    out.close();
    out.open();
    out.flow(
      words,
      at + EVENT_WORD.SOURCE,
      at + EVENT_WORD.DESTINATION,
      words[at + EVENT_WORD.PORTS]!,
      kind >>> EVENT_KIND.PROTOCOL_SHIFT,
      (kind & EVENT_KIND.IPV6) !== 0,
    );
    out.close();
  }

  #metric(kind: number): Uint8Array {
    return this.#metrics[(kind >>> EVENT_KIND.METRIC_SHIFT) & EVENT_KIND.METRIC_MASK] ?? this.#none;
  }
}
