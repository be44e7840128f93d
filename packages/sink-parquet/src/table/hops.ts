import { ENCAPSULATIONS, FIELDS, type Field, FLAG, INT_VERSIONS, MODES, REPORT_VERSIONS } from '@int/codec';
import { SLAB_STRIDE, type SlabShape } from '../memory/slab.js';
import {
  CONTENT,
  type Column,
  computed,
  entry,
  type Fill,
  field,
  flag,
  name,
  ofRecord,
  pair,
  part,
  truth,
  word,
  wordIf,
} from './column.js';
import type { Table } from './table.js';

/** Columns of words that a row of `hops` has beside those of the batch. */
export const HOP_ROW = {
  /** Position on the path, 0 = INT source, and bits of {@link HOP_BIT}. All ones: the report has no hops. */
  HOP: 0,
  /** Items of reserved instructions, as a text. All ones: there are none. */
  RESERVED: 1,
} as const;

/** Bits of the `HOP` column above the position. */
export const HOP_BIT = {
  /** The reporting node's own values. */
  OWN: 1 << 8,
} as const;

/** The first of the columns that are those of a telemetry batch. */
export const HOP_COLUMNS_AT = 2;
const KEPT_FIELDS: readonly Field[] = /* @__PURE__ */ FIELDS.filter(({ isReserved }) => isReserved !== true);
/** Columns of a batch that are kept as they are, by their index there: all but those of reserved instructions. */
export const KEPT_HOP_COLUMNS: readonly number[] = /* @__PURE__ */ KEPT_FIELDS.flatMap(({ column, bits }) =>
  bits === 64 ? [column, column + 1] : [column],
);

const REPORTS_AT = /* @__PURE__ */ HOP_COLUMNS_AT + KEPT_HOP_COLUMNS.length;

/** Columns of words that a report has. All ones: not there. */
export const REPORT_ROW = {
  TIME: REPORTS_AT,
  INSTANCE: REPORTS_AT + 2,
  NUMBER: REPORTS_AT + 4,
  FLAGS: REPORTS_AT + 6,
  REPORTER: REPORTS_AT + 7,
  SEQUENCE: REPORTS_AT + 8,
  INSTRUCTIONS: REPORTS_AT + 9,
  /** Source port << 16 | destination port. */
  PORTS: REPORTS_AT + 10,
  PROTOCOL: REPORTS_AT + 11,
  SOURCE: REPORTS_AT + 12,
  DESTINATION: REPORTS_AT + 13,
  PATH: REPORTS_AT + 14,
  DROP: REPORTS_AT + 15,
  REPORT_TIMESTAMP: REPORTS_AT + 16,
  /** Rows of the report: its hops and its own. */
  HOPS: REPORTS_AT + 17,
} as const;

/** Rows of `hops` until they are in a file. */
const HOPS_SHAPE: SlabShape = { words: REPORTS_AT + 18, texts: 0 };

const FLAGS = REPORT_ROW.FLAGS * SLAB_STRIDE;
const HOP = HOP_ROW.HOP * SLAB_STRIDE;
const INSTRUCTIONS = REPORT_ROW.INSTRUCTIONS * SLAB_STRIDE;
const PORTS = REPORT_ROW.PORTS * SLAB_STRIDE;
const MISSING = 0xffffffff;
const XD = /* @__PURE__ */ MODES.indexOf('xd');
const REPORT_2 = /* @__PURE__ */ REPORT_VERSIONS.indexOf('2.0');
const POSITION = 0xff;

/** Where a column of a batch is kept. */
function at(column: number): number {
  return HOP_COLUMNS_AT + KEPT_HOP_COLUMNS.indexOf(column);
}

function modeOf(flags: number): number {
  return (flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK;
}

/** Whether it was a report, and no packet that carried INT itself. */
function isReport(words: Uint32Array, row: number): boolean {
  return (words[FLAGS + row]! & FLAG.REPORT_MASK) !== 0;
}

/** Whether the report's header has a timestamp: that of v2.0 has none. */
function hasTimestamp(words: Uint32Array, row: number): boolean {
  const version = words[FLAGS + row]! & FLAG.REPORT_MASK;
  return version !== 0 && version !== REPORT_2;
}

/** A part of the flags that a report always has. */
function report(columnName: string, bit: number): Column {
  return ofRecord(flag(columnName, REPORT_ROW.FLAGS, bit));
}

function port(columnName: string, shift: number): Column {
  return ofRecord(
    computed(columnName, [REPORT_ROW.PORTS], (words, rows, to) => {
      for (let row = 0; row < rows; row++) {
        to[row] = (words[FLAGS + row]! & FLAG.FLOW) === 0 ? MISSING : (words[PORTS + row]! >>> shift) & 0xffff;
      }
    }),
  );
}

/** A field that is missing only if its partner is, too. */
function partnered({ name: columnName, column, partner }: Field): Column {
  const [first, second] = [at(column), at(partner)];
  const own = first * SLAB_STRIDE;
  const other = second * SLAB_STRIDE;
  const fill: Fill = (slab, rows, to) => {
    if (slab.used[first] === 0 && slab.used[second] === 0) return CONTENT.NONE;
    const { words } = slab;
    let all = true;
    to.valid.fill(0);
    to.words.set(words.subarray(own, own + rows));
    for (let row = 0; row < rows; row++) {
      const isMissing = (words[own + row]! & words[other + row]!) >>> 0 === MISSING;
      if (isMissing) all = false;
      else to.valid[row >>> 5]! |= 1 << (row & 31);
    }
    return all ? CONTENT.ALL : CONTENT.SOME;
  };
  return { name: columnName, type: 'UINTEGER', fill };
}

/** 64 bits of a batch, whose upper word comes first. */
function timestamp({ name: columnName, column }: Field): Column {
  const swapped = pair(columnName, at(column));
  return {
    ...swapped,
    fill: (slab, rows, to) => {
      const content = swapped.fill(slab, rows, to);
      const { pairs } = to;
      for (let k = 0; k < 2 * rows; k += 2) {
        const upper = pairs[k]!;
        pairs[k] = pairs[k + 1]!;
        pairs[k + 1] = upper;
      }
      return content;
    },
  };
}

function columnOf(field: Field): Column {
  if (field.bits === 64) return timestamp(field);
  return field.partner === field.column ? word(field.name, at(field.column)) : partnered(field);
}

/** One row for each hop of a report, and one for a report without hops. */
export const HOPS_TABLE: Table = /* @__PURE__ */ {
  name: 'hops',
  kind: 'reports',
  shape: HOPS_SHAPE,
  columns: [
    ofRecord(pair('time', REPORT_ROW.TIME, 'TIMESTAMP_NS')),
    ofRecord(pair('instance', REPORT_ROW.INSTANCE)),
    ofRecord(pair('number', REPORT_ROW.NUMBER)),
    part('hop', HOP_ROW.HOP, 0, POSITION),
    ofRecord(word('hopCount', REPORT_ROW.HOPS)),
    // The reporting node's own values.
    truth('own', (words, rows, to) => {
      for (let row = 0; row < rows; row++) {
        to[row] = words[HOP + row] !== MISSING && (words[HOP + row]! & HOP_BIT.OWN) !== 0 ? 1 : 0;
      }
    }),
    ofRecord(entry('source', REPORT_ROW.SOURCE, 'source')),
    ofRecord(entry('destination', REPORT_ROW.DESTINATION, 'destination')),
    ofRecord(word('protocol', REPORT_ROW.PROTOCOL)),
    port('sourcePort', 16),
    port('destinationPort', 0),
    ofRecord(entry('path', REPORT_ROW.PATH, 'path')),
    ...KEPT_FIELDS.map(columnOf),
    entry('reserved', HOP_ROW.RESERVED, 'reserved'),
    ofRecord(name('reportVersion', REPORT_VERSIONS, (words, row) => words[FLAGS + row]! & FLAG.REPORT_MASK)),
    ofRecord(field('hwId', REPORT_ROW.FLAGS, FLAG.HW_ID_SHIFT, FLAG.HW_ID_MASK)),
    ofRecord(wordIf('sequence', REPORT_ROW.SEQUENCE, isReport)),
    ofRecord(word('reportNodeId', REPORT_ROW.REPORTER)),
    ofRecord(wordIf('reportTimestamp', REPORT_ROW.REPORT_TIMESTAMP, hasTimestamp)),
    report('dropped', FLAG.DROPPED),
    report('queueCongested', FLAG.QUEUE_CONGESTED),
    report('trackedFlow', FLAG.TRACKED_FLOW),
    report('intermediate', FLAG.INTERMEDIATE),
    ofRecord(part('dropReason', REPORT_ROW.DROP, 16, 0xff)),
    ofRecord(part('dropQueueId', REPORT_ROW.DROP, 24, 0xff)),
    ofRecord(name('mode', MODES, (words, row) => modeOf(words[FLAGS + row]!))),
    // INT-XD has no INT header: its version is that of the report, and the two lists agree up to there.
    ofRecord(
      name('intVersion', INT_VERSIONS, (words, row) => {
        const flags = words[FLAGS + row]!;
        return modeOf(flags) === XD
          ? flags & FLAG.REPORT_MASK
          : (flags >>> FLAG.INT_VERSION_SHIFT) & FLAG.INT_VERSION_MASK;
      }),
    ),
    ofRecord(
      name(
        'encapsulation',
        ENCAPSULATIONS,
        (words, row) => (words[FLAGS + row]! >>> FLAG.ENCAPSULATION_SHIFT) & FLAG.ENCAPSULATION_MASK,
      ),
    ),
    ofRecord(
      computed('instructionBitmap', [REPORT_ROW.INSTRUCTIONS], (words, rows, to) => {
        for (let row = 0; row < rows; row++) {
          const flags = words[FLAGS + row]!;
          const bits = words[INSTRUCTIONS + row]!;
          if (modeOf(flags) !== XD) to[row] = bits >>> 16;
          else to[row] = (flags & FLAG.REPORT_MASK) === 3 ? bits & 0xffff : 0;
        }
      }),
    ),
    report('discard', FLAG.DISCARD),
    report('hopExceeded', FLAG.HOP_EXCEEDED),
    report('mtuExceeded', FLAG.MTU_EXCEEDED),
  ],
  ofJson: {},
};
