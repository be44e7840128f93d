import { REASONS } from '@int/flowcache';
import { SLAB_STRIDE, type SlabShape } from '../memory/slab.js';
import { entry, field, name, pair, text, word, wordIf } from './column.js';
import { HOPS_TYPE, type Table } from './table.js';

/** Columns of words of `flows`. All ones: not there. */
export const FLOW_ROW = {
  FIRST: 0,
  LAST: 2,
  INSTANCE: 4,
  NUMBER: 6,
  SOURCE: 8,
  DESTINATION: 9,
  PORTS: 10,
  PROTOCOL: 11,
  REASON: 12,
  PACKETS: 13,
  PATH_CHANGES: 14,
  PATH: 15,
  PATH_LENGTH: 16,
  HOPS_BEYOND: 17,
  /** Sum of the hop latency over the path: last value, number of reports, mean. */
  END_TO_END: 18,
  END_TO_END_COUNT: 19,
  END_TO_END_MEAN: 20,
} as const;

/** The text is the entry's hops in JSON. */
const FLOWS_SHAPE: SlabShape = { words: 22, texts: 1 };

/** One row for each entry that left the flow cache. */
export const FLOWS_TABLE: Table = /* @__PURE__ */ {
  name: 'flows',
  kind: 'flows',
  shape: FLOWS_SHAPE,
  columns: [
    pair('firstTime', FLOW_ROW.FIRST, 'TIMESTAMP_NS'),
    pair('lastTime', FLOW_ROW.LAST, 'TIMESTAMP_NS'),
    pair('instance', FLOW_ROW.INSTANCE),
    pair('number', FLOW_ROW.NUMBER),
    entry('source', FLOW_ROW.SOURCE, 'source'),
    entry('destination', FLOW_ROW.DESTINATION, 'destination'),
    word('protocol', FLOW_ROW.PROTOCOL),
    field('sourcePort', FLOW_ROW.PORTS, 16, 0xffff),
    field('destinationPort', FLOW_ROW.PORTS, 0, 0xffff),
    name('reason', REASONS, (words, row) => words[FLOW_ROW.REASON * SLAB_STRIDE + row]!),
    field('packets', FLOW_ROW.PACKETS, 0, -1),
    field('pathChanges', FLOW_ROW.PATH_CHANGES, 0, -1),
    entry('path', FLOW_ROW.PATH, 'path'),
    word('pathLength', FLOW_ROW.PATH_LENGTH),
    word('hopsBeyond', FLOW_ROW.HOPS_BEYOND),
    wordIf(
      'endToEndLast',
      FLOW_ROW.END_TO_END,
      (words, row) => words[FLOW_ROW.END_TO_END_COUNT * SLAB_STRIDE + row] !== 0,
    ),
    pair('endToEndMean', FLOW_ROW.END_TO_END_MEAN, 'DOUBLE'),
    field('endToEndCount', FLOW_ROW.END_TO_END_COUNT, 0, -1),
    text('hops', 0),
  ],
  ofJson: { hops: HOPS_TYPE },
};
