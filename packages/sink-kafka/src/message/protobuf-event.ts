import { FLAG, METRIC_NAMES, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import type { RecordIds } from '@int/collector';
import { namesNodes, ruleNames } from '@int/collector/internals';
import {
  DETECTOR_KINDS,
  EVENT_STATES,
  EVIDENCE,
  EVIDENCE_NAMES,
  type EventBatch,
  hasPrevious,
  hasThreshold,
  hasValue,
  KIND,
  SCOPES,
} from '@int/detect';
import { putId, putReportFlow } from './protobuf-report.js';
import type { MessageSlab } from './slab.js';
import { closeField, putField, putFixed64, putVarint, tagOf, WIRE } from './wire.js';

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
} as const;

const EVIDENCE_FIELD = { AGGREGATE: 1, METRIC: 2, VALUE: 3, NODE: 4, HOP: 5 } as const;

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

const EVENT_BYTES = 256;
const EVIDENCE_BYTES = 64;

export function putBytesField(bytes: Uint8Array, start: number, field: number, value: Uint8Array): number {
  bytes[start] = tagOf(field, WIRE.BYTES);
  const at = putVarint(bytes, start + 1, value.length);
  for (let k = 0; k < value.length; k++) bytes[at + k] = value[k]!;
  return at + value.length;
}

/** Writes the path of a report row as packed numbers, all ones for a hop that did not name itself. */
function putPath(bytes: Uint8Array, start: number, batch: TelemetryBatch, row: number): number {
  const flags = batch.flags[row]! | 0;
  const isNamed = namesNodes(flags, batch.instructions[row]! | 0);
  const first = batch.hopStart[row]! | 0;
  const end = first + batch.hopCount[row]! - ((flags & FLAG.OWN) === 0 ? 0 : 1);
  const body = start + 2;
  let at = body;
  let last = NONE;
  for (let hop = first; hop < end; hop++) {
    const id = batch.hop.nodeId[hop]! | 0;
    if (id === NONE && !isNamed) continue;
    at = putVarint(bytes, at, id);
    last = id;
  }
  const reporter = batch.nodeId[row]!;
  if ((flags & FLAG.REPORT_MASK) !== 0 && reporter !== NOT_AVAILABLE && (reporter | 0) !== last) {
    at = putVarint(bytes, at, reporter | 0);
  }
  if (at === body) return start;
  bytes[start] = tagOf(EVENT_FIELD.PATH, WIRE.BYTES);
  return closeField(bytes, body, at);
}

/** Whether an event has evidence: complex ones, and those of watches. */
function hasEvidence(events: EventBatch, row: number): boolean {
  return (events.kind[row]! & KIND.DETECTOR_MASK) >= KIND_COMPLEX;
}

function putEvidence(bytes: Uint8Array, start: number, { evidence, stride }: EventBatch, row: number): number {
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
    at = closeField(bytes, body, at);
  }
  return at;
}

export class ProtobufEvent {
  readonly #rules = ruleNames(bytesOf);

  bound(events: EventBatch, row: number): number {
    const rule = events.ruleName(row);
    const name = rule === null ? 0 : this.#rules(rule).length + 8;
    const evidence = hasEvidence(events, row) ? EVIDENCE.SLOTS * EVIDENCE_BYTES : 0;
    return EVENT_BYTES + name + evidence + (events.batch.hopCount[events.report[row]!]! + 1) * 5;
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
    at = putPath(bytes, at, batch, report);
    if (hasEvidence(events, row)) at = putEvidence(bytes, at, events, row);
    const kind = events.kind[row]! | 0;
    // What most events are is left out, as Protobuf leaves out what is 0.
    const state = (kind >>> KIND.STATE_SHIFT) & KIND.STATE_MASK;
    if (state !== 0) {
      // Tags of fields from 16 on have two bytes.
      at = putVarint(bytes, at, tagOf(EVENT_FIELD.STATE, WIRE.BYTES));
      const name = STATES[state]!;
      bytes[at++] = name.length;
      for (let k = 0; k < name.length; k++) bytes[at++] = name[k]!;
    }
    if ((kind & KIND.FIRST_SIGHT) === 0) return at;
    return putVarint(bytes, putVarint(bytes, at, tagOf(EVENT_FIELD.FIRST_SIGHT, WIRE.VARINT)), 1);
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
