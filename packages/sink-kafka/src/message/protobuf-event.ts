import { FLAG, METRIC_NAMES, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import type { RecordIds } from '@int/collector';
import { namesNodes, ruleNames } from '@int/collector/internals';
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
import type { NodeNames } from './node-names.js';
import { putId, putReportFlow } from './protobuf-report.js';
import type { MessageSlab } from './slab.js';
import { closeField, putField, putFixed64, putTextField, putVarint, tagOf, WIRE } from './wire.js';

const EVENT_FIELD = {
  INSTANCE: 1,
  NUMBER: 2,
  TIME: 3,
  RULE: 4,
  DETECTOR: 5,
  METRIC: 6,
  SCOPE: 7,
  NODE: 8,
  HOP: 9,
  VALUE: 10,
  PREVIOUS: 11,
  THRESHOLD: 12,
  FLOW: 13,
  PATH: 14,
  EVIDENCE: 15,
  STATE: 16,
  FIRST_SIGHT: 17,
  EVENT_ID: 18,
  SEVERITY: 19,
  KEY: 20,
  IS_FIRST: 21,
  BEGIN: 22,
  FINDINGS: 23,
  NODE_NAME: 24,
  PATH_NAMES: 25,
} as const;

const EVIDENCE_FIELD = { AGGREGATE: 1, METRIC: 2, VALUE: 3, NODE: 4, HOP: 5, NODE_NAME: 6 } as const;

const encoder = /* @__PURE__ */ new TextEncoder();
const bytesOf = (text: string): Uint8Array => encoder.encode(text);
const DETECTORS: readonly Uint8Array[] = /* @__PURE__ */ DETECTOR_KINDS.map(bytesOf);
const METRICS: readonly Uint8Array[] = /* @__PURE__ */ METRIC_NAMES.map(bytesOf);
const STATES: readonly Uint8Array[] = /* @__PURE__ */ EVENT_STATES.map(bytesOf);
const SCOPE_NAMES: readonly Uint8Array[] = /* @__PURE__ */ SCOPES.map(bytesOf);
const AGGREGATE_NAMES: readonly Uint8Array[] = /* @__PURE__ */ EVIDENCE_NAMES.map(bytesOf);
const SCOPE_HOP = /* @__PURE__ */ SCOPES.indexOf('hop');
const KIND_COMPLEX = /* @__PURE__ */ DETECTOR_KINDS.indexOf('complex');
const NONE = -1;
const NO_NAME: Uint8Array = /* @__PURE__ */ new Uint8Array(0);

const EVENT_BYTES = 256;
/** An id as text. */
const ID_BYTES = 10;
const EVIDENCE_BYTES = 64;

export function putBytesField(bytes: Uint8Array, start: number, field: number, value: Uint8Array): number {
  bytes[start] = tagOf(field, WIRE.BYTES);
  const at = putVarint(bytes, start + 1, value.length);
  for (let k = 0; k < value.length; k++) bytes[at + k] = value[k]!;
  return at + value.length;
}

/** The path of a report row: all ones for a hop that did not name itself. */
function readPath(batch: TelemetryBatch, row: number, path: number[]): void {
  const flags = batch.flags[row]! | 0;
  const isNamed = namesNodes(flags, batch.instructions[row]! | 0);
  const first = batch.hopStart[row]! | 0;
  const end = first + batch.hopCount[row]! - ((flags & FLAG.OWN) === 0 ? 0 : 1);
  path.length = 0;
  for (let hop = first; hop < end; hop++) {
    const id = batch.hop.nodeId[hop]! | 0;
    if (id !== NONE || isNamed) path.push(id);
  }
  const reporter = batch.nodeId[row]!;
  const last = path.length === 0 ? NONE : path[path.length - 1];
  if ((flags & FLAG.REPORT_MASK) !== 0 && reporter !== NOT_AVAILABLE && (reporter | 0) !== last)
    path.push(reporter | 0);
}

/** Writes a path as packed numbers. */
function putPath(bytes: Uint8Array, start: number, path: readonly number[]): number {
  if (path.length === 0) return start;
  const body = start + 2;
  let at = body;
  for (let k = 0; k < path.length; k++) at = putVarint(bytes, at, path[k]!);
  bytes[start] = tagOf(EVENT_FIELD.PATH, WIRE.BYTES);
  return closeField(bytes, body, at);
}

/** Writes the path with names, if one of its switches has one: ids of the others. */
function putPathNames(bytes: Uint8Array, start: number, path: readonly number[], names: NodeNames): number {
  if (!path.some((id) => id !== NONE && names.node(id) !== undefined)) return start;
  let at = start;
  for (const id of path) {
    const name = id === NONE ? NO_NAME : (names.node(id) ?? bytesOf(String(id >>> 0)));
    at = putTextField(bytes, at, EVENT_FIELD.PATH_NAMES, name);
  }
  return at;
}

/** Whether an event has evidence: complex ones, and those of watches. */
function hasEvidence(events: EventBatch, row: number): boolean {
  return (events.kind[row]! & KIND.DETECTOR_MASK) >= KIND_COMPLEX;
}

function putEvidence(
  bytes: Uint8Array,
  start: number,
  { evidence, stride }: EventBatch,
  row: number,
  names: NodeNames | null,
): number {
  let at = start;
  for (let slot = 0; slot < EVIDENCE.SLOTS; slot++) {
    const cell = slot * EVIDENCE.COLUMNS * stride + row;
    const what = evidence[cell + EVIDENCE.WHAT * stride]!;
    if (what === EVIDENCE.NONE) break;
    const aggregate = AGGREGATE_NAMES[(what >>> EVIDENCE.AGGREGATE_SHIFT) & EVIDENCE.AGGREGATE_MASK]!;
    const metric = METRICS[what & EVIDENCE.METRIC_MASK];
    const node = evidence[cell + EVIDENCE.NODE * stride]!;
    const hop = what >>> EVIDENCE.HOP_SHIFT;
    const value = evidence[cell + EVIDENCE.VALUE * stride]!;
    bytes[at] = tagOf(EVENT_FIELD.EVIDENCE, WIRE.BYTES);
    const body = at + 2;
    at = putBytesField(bytes, body, EVIDENCE_FIELD.AGGREGATE, aggregate);
    if (metric !== undefined) at = putBytesField(bytes, at, EVIDENCE_FIELD.METRIC, metric);
    at = putField(bytes, at, tagOf(EVIDENCE_FIELD.VALUE, WIRE.VARINT), value);
    if (node !== NONE) at = putField(bytes, at, tagOf(EVIDENCE_FIELD.NODE, WIRE.VARINT), node);
    if (hop !== EVIDENCE.NO_HOP) at = putField(bytes, at, tagOf(EVIDENCE_FIELD.HOP, WIRE.VARINT), hop);
    if (node !== NONE) at = putTextField(bytes, at, EVIDENCE_FIELD.NODE_NAME, names?.node(node));
    at = closeField(bytes, body, at);
  }
  return at;
}

/** The texts of a life as bytes. */
interface LifeTexts {
  readonly eventId: Uint8Array;
  readonly severity: Uint8Array;
  readonly key: Uint8Array;
}

/** Bytes of a life beside its texts. */
const LIFE_BYTES = 48;

function putLife({ bytes, view }: MessageSlab, start: number, life: EventLife, texts: LifeTexts): number {
  let at = putTextField(bytes, start, EVENT_FIELD.EVENT_ID, texts.eventId);
  at = putTextField(bytes, at, EVENT_FIELD.SEVERITY, texts.severity);
  at = putTextField(bytes, at, EVENT_FIELD.KEY, texts.key);
  at = putVarint(bytes, putVarint(bytes, at, tagOf(EVENT_FIELD.IS_FIRST, WIRE.VARINT)), life.isFirst ? 1 : 0);
  at = putVarint(bytes, at, tagOf(EVENT_FIELD.BEGIN, WIRE.FIXED64));
  view.setBigUint64(at, life.beginNs, true);
  at = putVarint(bytes, at + 8, tagOf(EVENT_FIELD.FINDINGS, WIRE.VARINT));
  return putVarint(bytes, at, life.findings | 0);
}

export class ProtobufEvent {
  readonly #rules = ruleNames(bytesOf);
  readonly #names: NodeNames | null;
  readonly #path: number[] = [];
  /** Of the life asked for last. */
  #life: EventLife | null = null;
  #texts: LifeTexts | null = null;

  /** @param names to put beside ids */
  constructor(names: NodeNames | null) {
    this.#names = names;
  }

  bound(events: EventBatch, row: number): number {
    const rule = events.ruleName(row);
    const name = rule === null ? 0 : this.#rules(rule).length + 8;
    const evidence = hasEvidence(events, row) ? EVIDENCE.SLOTS * EVIDENCE_BYTES : 0;
    const nodes = events.batch.hopCount[events.report[row]!]! + 1;
    const names = this.#names;
    // Of the event, of its evidence and of the path.
    const named = names === null ? 0 : (1 + EVIDENCE.SLOTS + nodes) * names.nodeBytes + nodes * ID_BYTES;
    return EVENT_BYTES + name + evidence + this.#lifeBytes(events.life(row)) + nodes * 5 + named;
  }

  #lifeBytes(life: EventLife | null): number {
    if (life === null) return 0;
    const { eventId, severity, key } = this.#textsOf(life);
    return LIFE_BYTES + eventId.length + severity.length + key.length;
  }

  #textsOf(life: EventLife): LifeTexts {
    if (life !== this.#life) {
      this.#life = life;
      this.#texts = { eventId: bytesOf(life.eventId), severity: bytesOf(life.severity), key: bytesOf(life.key) };
    }
    return this.#texts!;
  }

  write(slab: MessageSlab, start: number, events: EventBatch, row: number, ids: RecordIds): number {
    const { bytes } = slab;
    const { batch } = events;
    const report = events.report[row]!;
    const frame = batch.frame[report]!;
    const rule = events.ruleName(row);
    const time = tagOf(EVENT_FIELD.TIME, WIRE.FIXED64);
    let at = putId(slab, start, ids);
    at = putFixed64(slab.view, at, time, batch.frameTimeHigh[frame]! | 0, batch.frameTimeLow[frame]! | 0);
    if (rule !== null) at = putBytesField(bytes, at, EVENT_FIELD.RULE, this.#rules(rule));
    at = this.#finding(bytes, at, events, row);
    at = putReportFlow(slab, at, tagOf(EVENT_FIELD.FLOW, WIRE.BYTES), batch, report);
    readPath(batch, report, this.#path);
    at = putPath(bytes, at, this.#path);
    if (hasEvidence(events, row)) at = putEvidence(bytes, at, events, row, this.#names);
    const kind = events.kind[row]! | 0;
    // What most events are is left out, as Protobuf leaves out what is 0.
    const state = (kind >>> KIND.STATE_SHIFT) & KIND.STATE_MASK;
    if (state !== 0) at = putTextField(bytes, at, EVENT_FIELD.STATE, STATES[state]!);
    if ((kind & KIND.FIRST_SIGHT) !== 0) {
      at = putVarint(bytes, putVarint(bytes, at, tagOf(EVENT_FIELD.FIRST_SIGHT, WIRE.VARINT)), 1);
    }
    const life = events.life(row);
    if (life !== null) at = putLife(slab, at, life, this.#textsOf(life));
    return this.#names === null ? at : this.#putNames(bytes, at, events, row, this.#names);
  }

  #putNames(bytes: Uint8Array, start: number, events: EventBatch, row: number, names: NodeNames): number {
    const scope = (events.kind[row]! >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK;
    const node = scope === SCOPE_HOP ? events.nodeId[row]! | 0 : NONE;
    const at = putTextField(bytes, start, EVENT_FIELD.NODE_NAME, node === NONE ? undefined : names.node(node));
    return putPathNames(bytes, at, this.#path, names);
  }

  #finding(bytes: Uint8Array, start: number, events: EventBatch, row: number): number {
    const kind = events.kind[row]! | 0;
    const detector = kind & KIND.DETECTOR_MASK;
    const metric = (kind >>> KIND.METRIC_SHIFT) & KIND.METRIC_MASK;
    const scope = (kind >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK;
    const node = events.nodeId[row]! | 0;
    let at = putBytesField(bytes, start, EVENT_FIELD.DETECTOR, DETECTORS[detector]!);
    const name = METRICS[metric];
    if (name !== undefined) at = putBytesField(bytes, at, EVENT_FIELD.METRIC, name);
    at = putBytesField(bytes, at, EVENT_FIELD.SCOPE, SCOPE_NAMES[scope]!);
    if (scope === SCOPE_HOP) {
      if (node !== NONE) at = putField(bytes, at, tagOf(EVENT_FIELD.NODE, WIRE.VARINT), node);
      at = putField(bytes, at, tagOf(EVENT_FIELD.HOP, WIRE.VARINT), events.hop[row]! | 0);
    }
    if (hasValue(kind)) at = putField(bytes, at, tagOf(EVENT_FIELD.VALUE, WIRE.VARINT), events.value[row]! | 0);
    if (hasPrevious(kind)) {
      at = putField(bytes, at, tagOf(EVENT_FIELD.PREVIOUS, WIRE.VARINT), events.previous[row]! | 0);
    }
    if (!hasThreshold(kind)) return at;
    return putField(bytes, at, tagOf(EVENT_FIELD.THRESHOLD, WIRE.VARINT), events.threshold[row]! | 0);
  }
}
