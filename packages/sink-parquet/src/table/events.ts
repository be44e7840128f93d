import { METRIC_NAMES } from '@int/codec';
import {
  DETECTOR_KINDS,
  EVENT_STATES,
  hasPrevious,
  hasThreshold,
  hasValue,
  KIND,
  SCOPES,
  type Severity,
} from '@int/detect';
import { SLAB_STRIDE, type SlabShape } from '../memory/slab.js';
import { type Column, computed, entry, flag, flagIf, name, pair, text, word, wordIf } from './column.js';
import { EVIDENCE_TYPE, type Table } from './table.js';

/** Columns of words of `events`. All ones: not there. */
export const EVENT_ROW = {
  TIME: 0,
  INSTANCE: 2,
  NUMBER: 4,
  /** As in a batch of events. */
  KIND: 6,
  RULE: 7,
  NODE: 8,
  HOP: 9,
  VALUE: 10,
  PREVIOUS: 11,
  THRESHOLD: 12,
  PORTS: 13,
  PROTOCOL: 14,
  SOURCE: 15,
  DESTINATION: 16,
  PATH: 17,
  /** The life of an event of a rule with a lifecycle; all ones in all of it: none. */
  EVENT_ID: 18,
  SEVERITY: 19,
  KEY: 20,
  /** 0 or 1. */
  IS_FIRST: 21,
  BEGIN: 22,
  FINDINGS: 24,
} as const;

/** By number, as {@link EVENT_ROW}.SEVERITY has them. */
export const SEVERITIES: readonly Severity[] = ['info', 'warning', 'critical'];

/** The text is the evidence in JSON. */
const EVENTS_SHAPE: SlabShape = { words: 25, texts: 1 };

const KINDS = EVENT_ROW.KIND * SLAB_STRIDE;
const SEVERITY = EVENT_ROW.SEVERITY * SLAB_STRIDE;
const PORTS = EVENT_ROW.PORTS * SLAB_STRIDE;
const PROTOCOL = EVENT_ROW.PROTOCOL * SLAB_STRIDE;
const MISSING = 0xffffffff;
const HOP_SCOPE = /* @__PURE__ */ SCOPES.indexOf('hop');

function scopeOf(words: Uint32Array, row: number): number {
  return (words[KINDS + row]! >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK;
}

/** Whether the kind of an event says that it has a number. */
const ifKind =
  (has: (kind: number) => boolean) =>
  (words: Uint32Array, row: number): boolean =>
    has(words[KINDS + row]!);

function hasFlow(words: Uint32Array, row: number): boolean {
  return words[PROTOCOL + row] !== MISSING;
}

/** What only events about a hop have. */
function ofHop(columnName: string, column: number): Column {
  return computed(columnName, [column], (words, rows, to) => {
    for (let row = 0; row < rows; row++) {
      to[row] = scopeOf(words, row) === HOP_SCOPE ? words[column * SLAB_STRIDE + row]! : MISSING;
    }
  });
}

function port(columnName: string, shift: number): Column {
  return computed(columnName, [EVENT_ROW.PORTS], (words, rows, to) => {
    for (let row = 0; row < rows; row++) {
      to[row] = hasFlow(words, row) ? (words[PORTS + row]! >>> shift) & 0xffff : MISSING;
    }
  });
}

export const EVENTS_TABLE: Table = /* @__PURE__ */ {
  name: 'events',
  kind: 'events',
  shape: EVENTS_SHAPE,
  columns: [
    pair('time', EVENT_ROW.TIME, 'TIMESTAMP_NS'),
    pair('instance', EVENT_ROW.INSTANCE),
    pair('number', EVENT_ROW.NUMBER),
    entry('rule', EVENT_ROW.RULE, 'rule'),
    name('detector', DETECTOR_KINDS, (words, row) => words[KINDS + row]! & KIND.DETECTOR_MASK),
    name('metric', METRIC_NAMES, (words, row) => (words[KINDS + row]! >>> KIND.METRIC_SHIFT) & KIND.METRIC_MASK),
    name('scope', SCOPES, scopeOf),
    ofHop('nodeId', EVENT_ROW.NODE),
    ofHop('hop', EVENT_ROW.HOP),
    wordIf('value', EVENT_ROW.VALUE, ifKind(hasValue)),
    wordIf('previous', EVENT_ROW.PREVIOUS, ifKind(hasPrevious)),
    wordIf('threshold', EVENT_ROW.THRESHOLD, ifKind(hasThreshold)),
    text('evidence', 0),
    name('state', EVENT_STATES, (words, row) => (words[KINDS + row]! >>> KIND.STATE_SHIFT) & KIND.STATE_MASK),
    flag('firstSight', EVENT_ROW.KIND, KIND.FIRST_SIGHT),
    entry('eventId', EVENT_ROW.EVENT_ID, 'event'),
    name('severity', SEVERITIES, (words, row) => words[SEVERITY + row]!),
    entry('key', EVENT_ROW.KEY, 'key'),
    flagIf('isFirst', EVENT_ROW.IS_FIRST),
    pair('begin', EVENT_ROW.BEGIN, 'TIMESTAMP_NS'),
    word('findings', EVENT_ROW.FINDINGS),
    entry('source', EVENT_ROW.SOURCE, 'source'),
    entry('destination', EVENT_ROW.DESTINATION, 'destination'),
    word('protocol', EVENT_ROW.PROTOCOL),
    port('sourcePort', 16),
    port('destinationPort', 0),
    entry('path', EVENT_ROW.PATH, 'path'),
  ],
  ofJson: { evidence: EVIDENCE_TYPE },
};
