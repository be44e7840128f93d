import { FIELDS, type Field, HOP_COLUMNS, STATE, type TelemetryBatch } from '@int/codec';
import { type PackedText, packText, putBrackets, putText, putUint32, putUint64 } from './ascii.js';
import type { RecordNames } from './record-names.js';

/** A field of a hop, and the comma and key in front of its value. */
interface Item extends Pick<Field, 'bits' | 'column' | 'partner'> {
  readonly key: PackedText;
}

const ITEMS: readonly Item[] = /* @__PURE__ */ FIELDS.map(({ name, bits, column, partner }) => ({
  bits,
  column,
  partner,
  key: packText(bits === 64 ? `,"${name}":"` : `,"${name}":`),
}));
const NODE = /* @__PURE__ */ ITEMS[0]!.column;

const INGRESS = /* @__PURE__ */ HOP_COLUMNS.indexOf('l1IngressInterface');
const EGRESS = /* @__PURE__ */ HOP_COLUMNS.indexOf('l1EgressInterface');

/** All ones, as a signed word. */
const NONE = -1;
const QUOTE = 0x22;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Bytes of a hop at most: braces, and for each field its key with comma, colon and quotes, and 10 or 20 digits. */
export const HOP_JSON_BYTES: number = /* @__PURE__ */ FIELDS.reduce(
  (sum, { name, bits }) => sum + name.length + (bits === 64 ? 26 : 14),
  2,
);

let writtenBefore = 0;
let itemsBefore: readonly Item[] = [];

/** The items whose columns the batch has ever used: few devices use all. */
function itemsOf(batch: TelemetryBatch): readonly Item[] {
  const written = batch.state[STATE.WRITTEN]! | 0;
  if (written !== writtenBefore) {
    itemsBefore = ITEMS.filter(({ column }) => (written & (1 << column)) !== 0);
    writtenBefore = written;
  }
  return itemsBefore;
}

/**
 * Writes hop row `row` as `JSON.stringify` would write the hop of a `ReportRecord`.
 * @param isOwn the row holds the reporting node's own values, without its id
 * @param names to put beside the ids
 * @param nodeId the node that the values are of
 */
export function putHop(
  view: DataView,
  start: number,
  batch: TelemetryBatch,
  row: number,
  isOwn: boolean,
  names: RecordNames | null,
  nodeId: number,
): number {
  const { hopWords, hopStride } = batch;
  const items = itemsOf(batch);
  let at = start;
  // Each item brings the comma in front of it; the first one's becomes the brace.
  for (let k = isOwn && items[0]?.column === NODE ? 1 : 0; k < items.length; k++) {
    const { bits, column, partner, key } = items[k]!;
    const word = hopWords[column * hopStride + row]! | 0;
    if (bits === 64) {
      const low = hopWords[(column + 1) * hopStride + row]! | 0;
      if ((word & low) === NONE) continue;
      at = putUint64(view, putText(view, at, key), word, low);
      view.setUint8(at++, QUOTE);
    } else if (word !== NONE || (partner !== column && (hopWords[partner * hopStride + row]! | 0) !== NONE)) {
      at = putUint32(view, putText(view, at, key), word);
      if (names === null || nodeId === NONE) continue;
      if (column === NODE) at = names.putNode(view, at, nodeId);
      else if (column === INGRESS || column === EGRESS) {
        at = names.putPort(view, at, nodeId, word, column === INGRESS);
      }
    }
  }
  return putBrackets(view, start, at, OPEN, CLOSE);
}
