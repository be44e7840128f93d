import { METRIC_NAMES } from '@int/codec';
import {
  DETECTOR_KINDS,
  EVENT_STATES,
  EVIDENCE,
  EVIDENCE_NAMES,
  type EventBatch,
  type EventLife,
  hasPrevious,
  hasThreshold,
  hasValue,
  KIND,
  SCOPES,
} from '@int/detect';
import {
  type PackedText,
  packText,
  putBytes,
  putInteger,
  putText,
  putUint32,
  putUint64,
  SLACK_BYTES,
} from './ascii.js';
import { lifeFields } from './event-record.js';
import { FLOW_KEY_JSON_BYTES } from './flow-key-json.js';
import { idText } from './id-text.js';
import type { RecordIds } from './ids.js';
import type { RecordNames } from './record-names.js';
import { putPath, putReportFlow } from './report-json.js';
import { ruleNames } from './rule-names.js';

const encoder = /* @__PURE__ */ new TextEncoder();

const NULL = /* @__PURE__ */ packText('null');
const TIME = /* @__PURE__ */ packText('","timeNs":"');
const RULE = /* @__PURE__ */ packText(',"rule":');
const DETECTORS: readonly PackedText[] = /* @__PURE__ */ DETECTOR_KINDS.map((kind) =>
  packText(`,"detector":"${kind}","metric":`),
);
const METRICS: readonly PackedText[] = /* @__PURE__ */ METRIC_NAMES.map((name) => packText(`"${name}","scope":`));
const NO_METRIC_TEXT = /* @__PURE__ */ packText('null,"scope":');
const SCOPE_TEXTS: readonly PackedText[] = /* @__PURE__ */ SCOPES.map((scope) => packText(`"${scope}","nodeId":`));
const HOP = /* @__PURE__ */ packText(',"hop":');
const VALUE = /* @__PURE__ */ packText(',"value":');
const PREVIOUS = /* @__PURE__ */ packText(',"previous":');
const THRESHOLD = /* @__PURE__ */ packText(',"threshold":');
const EVIDENCE_NULL = /* @__PURE__ */ packText(',"evidence":null');
const EVIDENCE_OPEN = /* @__PURE__ */ packText(',"evidence":');
const AGGREGATE_TEXTS: readonly PackedText[] = /* @__PURE__ */ EVIDENCE_NAMES.map((name) =>
  packText(`{"aggregate":"${name}","metric":`),
);
const EVIDENCE_METRICS: readonly PackedText[] = /* @__PURE__ */ METRIC_NAMES.map((name) =>
  packText(`"${name}","value":`),
);
const NO_EVIDENCE_METRIC = /* @__PURE__ */ packText('null,"value":');
const NODE = /* @__PURE__ */ packText(',"nodeId":');
const STATES: readonly PackedText[] = /* @__PURE__ */ EVENT_STATES.map((name) => packText(`,"state":"${name}"`));
const FIRST_SIGHT = /* @__PURE__ */ packText(',"firstSight":true');
const NOT_FIRST_SIGHT = /* @__PURE__ */ packText(',"firstSight":false');
const FLOW = /* @__PURE__ */ packText(',"flow":');
const PATH = /* @__PURE__ */ packText(',"path":');
const QUOTE = 0x22;
const BRACE = 0x7d;
const COMMA = 0x2c;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;

const SCOPE_HOP = /* @__PURE__ */ SCOPES.indexOf('hop');
const KIND_COMPLEX = /* @__PURE__ */ DETECTOR_KINDS.indexOf('complex');
const NONE = -1;

/** Bytes of the evidence of a clause. */
const EVIDENCE_BYTES = 128;
/** Bytes beside rule, evidence and path. */
const EVENT_JSON_BYTES = 544 + FLOW_KEY_JSON_BYTES + SLACK_BYTES;
/** Bytes of a node id in the path. */
const PATH_BYTES = 11;

function putOptional(view: DataView, at: number, key: PackedText, isThere: boolean, word: number): number {
  const next = putText(view, at, key);
  return isThere ? putUint32(view, next, word) : putText(view, next, NULL);
}

/** Whether an event has evidence: complex ones, and those of watches. */
function hasEvidence(events: EventBatch, row: number): boolean {
  return (events.kind[row]! & KIND.DETECTOR_MASK) >= KIND_COMPLEX;
}

/** Writes the evidence of an event as an array. */
function putEvidence(
  view: DataView,
  start: number,
  { evidence, stride }: EventBatch,
  row: number,
  names: RecordNames | null,
): number {
  let at = putText(view, start, EVIDENCE_OPEN);
  view.setUint8(at++, BRACKET_OPEN);
  for (let slot = 0; slot < EVIDENCE.SLOTS; slot++) {
    const cell = slot * EVIDENCE.COLUMNS * stride + row;
    const what = evidence[cell + EVIDENCE.WHAT * stride]!;
    if (what === EVIDENCE.NONE) break;
    const node = evidence[cell + EVIDENCE.NODE * stride]!;
    const hop = what >>> EVIDENCE.HOP_SHIFT;
    if (slot > 0) view.setUint8(at++, COMMA);
    at = putText(view, at, AGGREGATE_TEXTS[(what >>> EVIDENCE.AGGREGATE_SHIFT) & EVIDENCE.AGGREGATE_MASK]!);
    at = putText(view, at, EVIDENCE_METRICS[what & EVIDENCE.METRIC_MASK] ?? NO_EVIDENCE_METRIC);
    at = putUint32(view, at, evidence[cell + EVIDENCE.VALUE * stride]!);
    at = putOptional(view, at, NODE, node !== NONE, node);
    if (names !== null && node !== NONE) at = names.putNode(view, at, node);
    at = putOptional(view, at, HOP, hop !== EVIDENCE.NO_HOP, hop);
    view.setUint8(at++, BRACE);
  }
  view.setUint8(at, BRACKET_CLOSE);
  return at + 1;
}

/**
 * Writes events as JSON, byte for byte what `JSON.stringify` makes of their `EventRecord`, in UTF-8, without making
 * objects or strings.
 */
export class EventJson {
  readonly #id = idText('event');
  readonly #rules = ruleNames((name) => encoder.encode(JSON.stringify(name)));
  readonly #names: RecordNames | null;
  /** Of the life asked for last. */
  #life: EventLife | null = null;
  #lifeText: Uint8Array = new Uint8Array(0);

  /** @param names to put beside ids */
  constructor(names: RecordNames | null = null) {
    this.#names = names;
  }

  /** Bytes that the text of a row takes at most, with the room behind it that writing needs. */
  bound(events: EventBatch, row: number): number {
    const rule = events.ruleName(row);
    const name = rule === null ? 0 : this.#rules(rule).length;
    const evidence = hasEvidence(events, row) ? EVIDENCE.SLOTS * EVIDENCE_BYTES : 0;
    const nodes = events.batch.hopCount[events.report[row]!]! + 1;
    const names = this.#names;
    // The event, its evidence, and the nodes of the path.
    const named =
      names === null ? 0 : names.pathBytes + (1 + EVIDENCE.SLOTS) * names.nodeBytes + nodes * names.hopBytes;
    const life = events.life(row);
    const ofLife = life === null ? 0 : this.#textOf(life).length;
    return EVENT_JSON_BYTES + name + evidence + nodes * PATH_BYTES + named + ofLife;
  }

  /** The fields of a life, with the comma before them: few events have one. */
  #textOf(life: EventLife): Uint8Array {
    if (life !== this.#life) {
      this.#life = life;
      this.#lifeText = encoder.encode(`,${JSON.stringify(lifeFields(life)).slice(1, -1)}`);
    }
    return this.#lifeText;
  }

  /**
   * Writes row `row` of an event batch.
   * @param view has at least {@link bound} bytes from `start` on
   * @param number of the record in `ids`
   * @returns the position behind the text
   */
  write(view: DataView, start: number, events: EventBatch, row: number, ids: RecordIds, number: number): number {
    const { batch } = events;
    const report = events.report[row]!;
    const frame = batch.frame[report]!;
    const rule = events.ruleName(row);
    let at = putInteger(view, putText(view, start, this.#id(ids)), number);
    at = putText(view, at, TIME);
    at = putUint64(view, at, batch.frameTimeHigh[frame]! | 0, batch.frameTimeLow[frame]! | 0);
    view.setUint8(at++, QUOTE);
    const life = events.life(row);
    if (life !== null) at = putBytes(view, at, this.#textOf(life));
    at = putText(view, at, RULE);
    at = rule === null ? putText(view, at, NULL) : putBytes(view, at, this.#rules(rule));
    at = this.#finding(view, at, events, row);
    at = hasEvidence(events, row) ? putEvidence(view, at, events, row, this.#names) : putText(view, at, EVIDENCE_NULL);
    const kind = events.kind[row]!;
    at = putText(view, at, STATES[(kind >>> KIND.STATE_SHIFT) & KIND.STATE_MASK]!);
    at = putText(view, at, (kind & KIND.FIRST_SIGHT) === 0 ? NOT_FIRST_SIGHT : FIRST_SIGHT);
    at = putReportFlow(view, putText(view, at, FLOW), batch, report);
    at = putPath(view, putText(view, at, PATH), batch, report, this.#names);
    view.setUint8(at, BRACE);
    return at + 1;
  }

  #finding(view: DataView, start: number, events: EventBatch, row: number): number {
    const kind = events.kind[row]! | 0;
    const detector = kind & KIND.DETECTOR_MASK;
    const metric = (kind >>> KIND.METRIC_SHIFT) & KIND.METRIC_MASK;
    const scope = (kind >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK;
    const isHop = scope === SCOPE_HOP;
    const node = events.nodeId[row]! | 0;
    let at = putText(view, start, DETECTORS[detector]!);
    at = putText(view, at, METRICS[metric] ?? NO_METRIC_TEXT);
    at = putText(view, at, SCOPE_TEXTS[scope]!);
    at = isHop && node !== NONE ? putUint32(view, at, node) : putText(view, at, NULL);
    if (this.#names !== null && isHop && node !== NONE) at = this.#names.putNode(view, at, node);
    at = putOptional(view, at, HOP, isHop, events.hop[row]! | 0);
    at = putOptional(view, at, VALUE, hasValue(kind), events.value[row]! | 0);
    at = putOptional(view, at, PREVIOUS, hasPrevious(kind), events.previous[row]! | 0);
    return putOptional(view, at, THRESHOLD, hasThreshold(kind), events.threshold[row]! | 0);
  }
}
