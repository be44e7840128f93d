/** A staging area in the accelerator's memory, for rows that are elsewhere. */
import type { Arena } from '@int/codec';
import { type AnswerRows, type KeyRows, MAX_KEY_BYTES } from '../store/rows.js';
import { CONTEXT } from './context.js';

/** Any key fits. */
const KEY_BYTES = MAX_KEY_BYTES + 1;
/** Runs up to this length are copied byte by byte, which is cheaper than making a view. */
const FEW_BYTES = 64;

function copyBytes(to: Uint8Array, at: number, from: Uint8Array, start: number, count: number): void {
  if (count <= FEW_BYTES) for (let index = 0; index < count; index++) to[at + index] = from[start + index]!;
  else to.set(from.subarray(start, start + count), at);
}

/**
 * Copies rows in and out. The context tells the accelerator their addresses; it finds cells by the row's own number.
 */
export class Staging {
  /** Most rows copied at a time. */
  static readonly ROWS = 256;
  readonly #buffer: ArrayBufferLike;
  readonly #context: Uint32Array;
  readonly #valueBytes: number;
  readonly #keys: Uint8Array;
  readonly #offsets: Uint32Array;
  readonly #lengths: Uint32Array;
  readonly #values: Uint8Array;
  readonly #which: Uint8Array;
  readonly #status: Uint8Array;
  readonly #matching: Uint8Array;
  readonly #agreeing: Uint8Array;

  /** Most bytes that it needs. */
  static byteLength(valueBytes: number): number {
    return KEY_BYTES + Staging.ROWS * (12 + valueBytes) + 8 * 64;
  }

  constructor(arena: Arena, context: Uint32Array, valueBytes: number) {
    this.#buffer = arena.buffer;
    this.#context = context;
    this.#valueBytes = valueBytes;
    this.#keys = arena.bytes(KEY_BYTES);
    this.#offsets = arena.words(Staging.ROWS);
    this.#lengths = arena.words(Staging.ROWS);
    this.#values = arena.bytes(Staging.ROWS * valueBytes);
    this.#which = arena.bytes(Staging.ROWS);
    this.#status = arena.bytes(Staging.ROWS);
    this.#matching = arena.bytes(Staging.ROWS);
    this.#agreeing = arena.bytes(Staging.ROWS);
  }

  /**
   * Gives the accelerator keys, or frames, from row `from` on.
   * @returns the end of the rows given: `to` if all are in its memory; `from` if row `from` has more than 65,536 bytes
   */
  takeKeys(keys: KeyRows, from: number, to: number): number {
    const { bytes, offsets, lengths } = keys;
    const context = this.#context;
    const buffer = this.#buffer;
    if (bytes.buffer === buffer && offsets.buffer === buffer && lengths.buffer === buffer) {
      context[CONTEXT.KEYS] = bytes.byteOffset;
      context[CONTEXT.OFFSETS] = offsets.byteOffset;
      context[CONTEXT.LENGTHS] = lengths.byteOffset;
      return to;
    }
    const most = Math.min(to, from + Staging.ROWS);
    context[CONTEXT.OFFSETS] = this.#offsets.byteOffset - from * 4;
    context[CONTEXT.LENGTHS] = this.#lengths.byteOffset - from * 4;
    if (bytes.buffer === buffer) {
      context[CONTEXT.KEYS] = bytes.byteOffset;
      this.#copyTables(keys, from, most);
      return most;
    }
    return this.#copyRun(keys, from, most) ? most : this.#copyKeys(keys, from, most);
  }

  /** Gives the accelerator values, and the copies to write. @param which all copies if absent */
  takeValues(values: Uint8Array, which: Uint8Array | undefined, from: number, to: number): void {
    const context = this.#context;
    const valueBytes = this.#valueBytes;
    if (values.buffer === this.#buffer) {
      context[CONTEXT.VALUES] = values.byteOffset;
    } else {
      copyBytes(this.#values, 0, values, from * valueBytes, (to - from) * valueBytes);
      context[CONTEXT.VALUES] = this.#values.byteOffset - from * valueBytes;
    }
    if (which === undefined) return;
    if (which.buffer === this.#buffer) {
      context[CONTEXT.WHICH] = which.byteOffset;
    } else {
      copyBytes(this.#which, 0, which, from, to - from);
      context[CONTEXT.WHICH] = this.#which.byteOffset - from;
    }
  }

  /** Whether answers are in the accelerator's memory, so that nothing needs copying. */
  holds({ status, values, matching, agreeing }: AnswerRows): boolean {
    const buffer = this.#buffer;
    return (
      status.buffer === buffer && values.buffer === buffer && matching.buffer === buffer && agreeing.buffer === buffer
    );
  }

  /** Tells the accelerator to write answers in place, or into the staging area. */
  offerAnswers(out: AnswerRows, isInside: boolean, from: number): void {
    const context = this.#context;
    const shift = isInside ? 0 : from;
    context[CONTEXT.STATUS] = (isInside ? out.status : this.#status).byteOffset - shift;
    context[CONTEXT.MATCHING] = (isInside ? out.matching : this.#matching).byteOffset - shift;
    context[CONTEXT.AGREEING] = (isInside ? out.agreeing : this.#agreeing).byteOffset - shift;
    context[CONTEXT.ANSWERS] = (isInside ? out.values : this.#values).byteOffset - shift * this.#valueBytes;
  }

  /** Copies answers out of the staging area. */
  giveAnswers(out: AnswerRows, from: number, to: number): void {
    const valueBytes = this.#valueBytes;
    copyBytes(out.status, from, this.#status, 0, to - from);
    copyBytes(out.matching, from, this.#matching, 0, to - from);
    copyBytes(out.agreeing, from, this.#agreeing, 0, to - from);
    copyBytes(out.values, from * valueBytes, this.#values, 0, (to - from) * valueBytes);
  }

  #copyTables({ offsets, lengths }: KeyRows, from: number, to: number): void {
    for (let row = from; row < to; row++) {
      this.#offsets[row - from] = offsets[row]!;
      this.#lengths[row - from] = lengths[row]!;
    }
  }

  /** Copies all bytes from the first key to the last in one run; false if there are too many. */
  #copyRun(keys: KeyRows, from: number, to: number): boolean {
    const { bytes, offsets, lengths } = keys;
    let start = offsets[from]!;
    let end = start;
    for (let row = from; row < to; row++) {
      const offset = offsets[row]!;
      start = Math.min(start, offset);
      end = Math.max(end, offset + lengths[row]!);
    }
    if (end - start > KEY_BYTES) return false;
    copyBytes(this.#keys, 0, bytes, start, end - start);
    this.#context[CONTEXT.KEYS] = this.#keys.byteOffset - start;
    this.#copyTables(keys, from, to);
    return true;
  }

  /** Copies key by key, as many as fit. @returns the end of the rows */
  #copyKeys({ bytes, offsets, lengths }: KeyRows, from: number, to: number): number {
    this.#context[CONTEXT.KEYS] = this.#keys.byteOffset;
    let at = 0;
    let row = from;
    for (; row < to; row++) {
      const length = lengths[row]!;
      if (at + length > KEY_BYTES) break;
      copyBytes(this.#keys, at, bytes, offsets[row]!, length);
      this.#offsets[row - from] = at;
      this.#lengths[row - from] = length;
      at += length;
    }
    return row;
  }
}
