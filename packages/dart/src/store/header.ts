/** The header of a segment: written when a store is made, read when one is attached. */
import {
  FAMILIES,
  HEADER,
  LAYOUT_VERSION,
  MAGIC,
  MAX_COPIES,
  type SegmentGeometry,
  type StoreGeometry,
  slotBytesOf,
} from '../layout.js';
import type { HashParameters } from './hashes.js';
import type { SegmentPlace } from './segment.js';

/** The collector that a store belongs to, among several. */
export interface Membership {
  readonly collectors: number;
  readonly collector: number;
}

export function writeHeader(
  header: Uint32Array,
  geometry: StoreGeometry,
  segment: SegmentGeometry,
  parameters: HashParameters,
  membership: Membership,
): void {
  header.fill(0);
  header[HEADER.MAGIC] = MAGIC;
  header[HEADER.VERSION] = LAYOUT_VERSION;
  header[HEADER.VALUE_BYTES] = geometry.valueBytes;
  header[HEADER.CHECKSUM_BITS] = geometry.checksumBits;
  header[HEADER.COPIES] = geometry.copies;
  header[HEADER.SLOTS] = geometry.slots;
  header[HEADER.SEGMENTS] = geometry.segments.length;
  header[HEADER.SEGMENT] = segment.index;
  header[HEADER.FIRST_SLOT] = segment.firstSlot;
  header[HEADER.SEGMENT_SLOTS] = segment.slots;
  header[HEADER.PAGE_SHIFT] = geometry.pageShift;
  header[HEADER.PAGES] = segment.pages;
  header[HEADER.BEGUN_AT] = segment.begunAt;
  header[HEADER.DONE_AT] = segment.doneAt;
  header[HEADER.SLOTS_AT] = segment.slotsAt;
  header[HEADER.FAMILY] = FAMILIES.indexOf(parameters.family);
  header.set(parameters.slots, HEADER.SLOT_PARAMETERS);
  header[HEADER.CHECKSUM_PARAMETER] = parameters.checksum;
  header[HEADER.COLLECTOR_PARAMETER] = parameters.collector;
  header[HEADER.KEY_PARAMETER] = parameters.key;
  header[HEADER.COLLECTORS] = membership.collectors;
  header[HEADER.COLLECTOR] = membership.collector;
}

/** The contents of a header. */
export interface HeaderContents extends Membership {
  readonly geometry: StoreGeometry;
  readonly parameters: HashParameters;
}

function segmentFrom(header: Uint32Array, byteLength: number): SegmentGeometry {
  return {
    index: header[HEADER.SEGMENT]!,
    firstSlot: header[HEADER.FIRST_SLOT]!,
    slots: header[HEADER.SEGMENT_SLOTS]!,
    pages: header[HEADER.PAGES]!,
    begunAt: header[HEADER.BEGUN_AT]!,
    doneAt: header[HEADER.DONE_AT]!,
    slotsAt: header[HEADER.SLOTS_AT]!,
    byteLength,
  };
}

/**
 * Reads the headers of all segments of a store.
 *
 * @throws TypeError if the places are not all segments of a store of this layout
 */
export function readHeaders(places: readonly SegmentPlace[]): HeaderContents {
  const headers = places.map(({ buffer, byteOffset }) => new Uint32Array(buffer, byteOffset, 128));
  const [first] = headers;
  if (first === undefined || first[HEADER.MAGIC] !== MAGIC) throw new TypeError('this is no DART store');
  if (first[HEADER.VERSION] !== LAYOUT_VERSION) {
    throw new TypeError(`the store has layout ${first[HEADER.VERSION]}, known is ${LAYOUT_VERSION}`);
  }
  if (headers.length !== first[HEADER.SEGMENTS] || headers.some((header, at) => header[HEADER.SEGMENT] !== at)) {
    throw new TypeError(`the store has ${first[HEADER.SEGMENTS]} segments; they have to be given, all and in order`);
  }
  const valueBytes = first[HEADER.VALUE_BYTES]!;
  const checksumBits = first[HEADER.CHECKSUM_BITS]!;
  const segments = headers.map((header, at) => {
    const { buffer, byteOffset } = places[at]!;
    return segmentFrom(header, buffer.byteLength - byteOffset);
  });
  const family = FAMILIES[first[HEADER.FAMILY]!];
  if (family === undefined)
    throw new TypeError(`the store's hashes are of family ${first[HEADER.FAMILY]}, unknown here`);
  return {
    geometry: {
      slots: first[HEADER.SLOTS]!,
      valueBytes,
      checksumBits,
      checksumBytes: Math.ceil(checksumBits / 8),
      slotBytes: slotBytesOf(valueBytes, checksumBits),
      copies: first[HEADER.COPIES]!,
      pageShift: first[HEADER.PAGE_SHIFT]!,
      segments,
    },
    parameters: {
      family,
      key: first[HEADER.KEY_PARAMETER]!,
      slots: [...first.subarray(HEADER.SLOT_PARAMETERS, HEADER.SLOT_PARAMETERS + MAX_COPIES)],
      checksum: first[HEADER.CHECKSUM_PARAMETER]!,
      collector: first[HEADER.COLLECTOR_PARAMETER]!,
    },
    collectors: first[HEADER.COLLECTORS]!,
    collector: first[HEADER.COLLECTOR]!,
  };
}
