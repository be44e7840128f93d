import { FIELDS, type Field, STATE, type TelemetryBatch } from '@int/codec';
import type { NodeNames } from './node-names.js';
import type { MessageSlab } from './slab.js';
import { closeField, putTextField, putVarint, tagOf, WIRE } from './wire.js';

interface Item extends Pick<Field, 'bits' | 'column' | 'partner'> {
  /** Of one byte, or of two for numbers from 16 on: a varint. */
  readonly tag: number;
}

const ITEMS: readonly Item[] = /* @__PURE__ */ [...FIELDS]
  .sort((a, b) => a.protobuf - b.protobuf)
  .map(({ bits, column, partner, protobuf }) => ({
    bits,
    column,
    partner,
    tag: tagOf(protobuf, bits === 64 ? WIRE.FIXED64 : WIRE.VARINT),
  }));
const columnOf = (wanted: string): number => FIELDS.find(({ name }) => name === wanted)!.column;
const NODE = /* @__PURE__ */ columnOf('nodeId');
const INGRESS = /* @__PURE__ */ columnOf('l1IngressInterface');
const EGRESS = /* @__PURE__ */ columnOf('l1EgressInterface');
/** Numbers of the fields with names, behind those of {@link FIELDS}. */
const NAME_FIELD = { NODE: 25, INGRESS: 26, EGRESS: 27 } as const;

/** All ones, as a signed word. */
const NONE = -1;

/** Bytes of a hop at most, with its tag and length: two bytes of tag, and five of a varint or eight, for each field. */
export const HOP_BYTES: number = /* @__PURE__ */ FIELDS.reduce((sum, { bits }) => sum + (bits === 64 ? 10 : 7), 3);

let writtenBefore = 0;
let itemsBefore: readonly Item[] = [];

/** The items of columns that the batch has ever held something in: few devices use all. */
function itemsOf(batch: TelemetryBatch): readonly Item[] {
  const written = batch.state[STATE.WRITTEN]! | 0;
  if (written !== writtenBefore) {
    itemsBefore = ITEMS.filter(({ column }) => (written & (1 << column)) !== 0);
    writtenBefore = written;
  }
  return itemsBefore;
}

/**
 * Writes hop row `row` as a field of type `Hop`.
 * @param tag of the field
 * @param isOwn the row holds the reporting node's own values, without its id
 * @param node its switch
 * @param names to put beside ids
 */
export function putHop(
  { bytes, view }: MessageSlab,
  start: number,
  tag: number,
  batch: TelemetryBatch,
  row: number,
  isOwn: boolean,
  node: number,
  names: NodeNames | null,
): number {
  const { hopWords, hopStride } = batch;
  const items = itemsOf(batch);
  bytes[start] = tag;
  const body = start + 2;
  let at = body;
  for (let k = isOwn && items[0]?.column === NODE ? 1 : 0; k < items.length; k++) {
    const item = items[k]!;
    const { column, partner } = item;
    const word = hopWords[column * hopStride + row]! | 0;
    if (item.bits === 64) {
      const low = hopWords[(column + 1) * hopStride + row]! | 0;
      if ((word & low) === NONE) continue;
      at = putVarint(bytes, at, item.tag);
      view.setInt32(at, low, true);
      view.setInt32(at + 4, word, true);
      at += 8;
    } else if (word !== NONE || (partner !== column && (hopWords[partner * hopStride + row]! | 0) !== NONE)) {
      at = putVarint(bytes, putVarint(bytes, at, item.tag), word);
    }
  }
  if (names !== null) at = putNames(bytes, at, batch, row, isOwn, node, names);
  return closeField(bytes, body, at);
}

function putNames(
  bytes: Uint8Array,
  start: number,
  { hopWords, hopStride }: TelemetryBatch,
  row: number,
  isOwn: boolean,
  id: number,
  names: NodeNames,
): number {
  if (id === NONE) return start;
  const at = isOwn ? start : putTextField(bytes, start, NAME_FIELD.NODE, names.node(id));
  const ingress = hopWords[INGRESS * hopStride + row]! | 0;
  const egress = hopWords[EGRESS * hopStride + row]! | 0;
  const next = ingress === NONE ? at : putTextField(bytes, at, NAME_FIELD.INGRESS, names.port(id, ingress));
  return egress === NONE ? next : putTextField(bytes, next, NAME_FIELD.EGRESS, names.port(id, egress));
}
