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
    const node = words[at + EVENT_WORD.NODE]!;
    const previous = words[at + EVENT_WORD.PREVIOUS]!;
    out.number64(words, at + EVENT_WORD.TIME);
    out.text(KIND_TEXTS[kind & 7]!);
    out.text(isPath ? this.#change : isWhole ? this.#latency : this.#metric(kind));
    out.number((kind >>> EVENT_KIND.HOP_SHIFT) & EVENT_KIND.HOP_MASK, !isWhole);
    out.number(node, node !== -1);
    out.number(words[at + EVENT_WORD.VALUE]!);
    // All ones means unknown, except for a change, where it is a value.
    out.number(previous, previous !== -1 || (kind & EVENT_KIND.CHANGE) !== 0);
    out.number(words[at + EVENT_WORD.THRESHOLD]!, !isPath);
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
