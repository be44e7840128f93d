/** The parts of a dissected frame, and what makes them. */
import { type FieldPlace, groupOf, type PlacedFields, readField } from '../headers/codec.js';
import { meaningOf } from './meaning.js';

/** A header, a field, or bytes that are no field, with its place in the frame. */
export interface DissectedField {
  /**
   * Of a field: its name in objects and JSON. Of a header: what it is (`ipv4`, `shim`, `hop`). Of bytes that are no
   * field: `payload`, `padding` (behind the IP packet), `undecoded` (behind a problem).
   */
  readonly name: string;
  /**
   * Number, flag, bigint (64 bits) or text, as the object decoder has it; `null` for 'not available'. A header has `null`; a
   * hop has its index in `hops` of the decoded record, 0 for the INT source. Bytes are text in hexadecimal digits.
   */
  readonly value: number | bigint | boolean | string | null;
  /** The value for people, with its meaning; of a header, what it says in short. */
  readonly text: string;
  /** First byte, counted from the frame's first byte. */
  readonly offset: number;
  /** Bytes that the field touches. */
  readonly length: number;
  /** For a field that is not made of whole bytes: its first bit, 0 the most significant of the first byte, and its bits. */
  readonly bits?: { readonly offset: number; readonly length: number };
  /** Of a header: its parts, in wire order. They cover it without gaps and without overlap. */
  readonly children?: readonly DissectedField[];
}

/** The longest run of bytes that a field of bytes shows. */
const MAX_SHOWN = 64;

function hex(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++) text += bytes[at]!.toString(16).padStart(2, '0');
  return text;
}

/**
 * Collects the parts of a frame in wire order. Offsets of its methods count from the start of the frame. A header that
 * `end` cuts gives the fields that are whole; the rest of it is `undecoded`.
 */
export class Parts {
  readonly #bytes: Uint8Array;
  readonly #list: DissectedField[];

  constructor(bytes: Uint8Array, list: DissectedField[] = []) {
    this.#bytes = bytes;
    this.#list = list;
  }

  get list(): readonly DissectedField[] {
    return this.#list;
  }

  /** A header whose parts `fill` adds; it reaches as far as they do. An empty one is left out. */
  group(name: string, at: number, fill: (parts: Parts) => string, value: DissectedField['value'] = null): void {
    const parts = new Parts(this.#bytes);
    const text = fill(parts);
    const last = parts.#list.at(-1);
    if (last === undefined) return;
    const length = last.offset + last.length - at;
    this.#list.push({ name, value, text, offset: at, length, children: parts.list });
  }

  /** Bytes that are no field. */
  bytes(name: string, from: number, to: number): void {
    if (to <= from) return;
    const length = to - from;
    const value = hex(this.#bytes, from, Math.min(to, from + MAX_SHOWN));
    const text = length > MAX_SHOWN ? `${length} bytes` : value;
    this.#list.push({ name, value, text, offset: from, length });
  }

  /** A field of `width` bits at bit `position` of the header at `at`. */
  field(name: string, value: DissectedField['value'], at: number, position: number, width: number): void {
    const offset = at + (position >>> 3);
    const first = position & 7;
    const length = (first + width + 7) >>> 3;
    const place = { name, value, text: meaningOf(name, value), offset, length };
    this.#list.push(first === 0 && width % 8 === 0 ? place : { ...place, bits: { offset: first, length: width } });
  }

  /**
   * The fields of a header, as far as they lie before `end`.
   * @param codec a header codec, or the fields themselves
   * @returns whether the header is whole
   */
  header(codec: object, at: number, end: number): boolean {
    const group = 'places' in codec ? (codec as PlacedFields) : groupOf(codec);
    const room = (end - at) * 8;
    let done = 0;
    for (const place of group.places()) {
      if (place.position + place.width > room) {
        this.#cut(at, done, room);
        return false;
      }
      this.field(place.name, this.#read(at, place), at, place.position, place.width);
      done = place.position + place.width;
    }
    return true;
  }

  /** A header with nothing but fields, as a group of its own. @returns whether it is whole */
  headerGroup(name: string, codec: object, at: number, end: number, text = ''): boolean {
    let isWhole = false;
    this.group(name, at, (inside) => {
      isWhole = inside.header(codec, at, end);
      return text;
    });
    return isWhole;
  }

  #read(at: number, place: FieldPlace): DissectedField['value'] {
    return readField(this.#bytes, at, place);
  }

  /** What is left of a header that is cut. */
  #cut(at: number, done: number, room: number): void {
    if (room <= done) return;
    const boundary = (done + 7) & ~7;
    if (boundary > done) {
      const byte = this.#bytes[at + (done >>> 3)]!;
      this.field('undecoded', byte & (0xff >>> (done & 7)), at, done, boundary - done);
    }
    this.bytes('undecoded', at + (boundary >>> 3), at + (room >>> 3));
  }
}
