import { HEADER, type StoreGeometry } from '../layout.js';
import { Candidates } from './answer.js';
import { checkAnswers, checkKeys } from './checks.js';
import { cutChecksum, KeyHashes } from './hashes.js';
import { readHeaders } from './header.js';
import { answer, readChecksum } from './plain-engine.js';
import { type Policy, policyNumber } from './policy.js';
import { type AnswerRows, type KeyRows, STATUS } from './rows.js';
import { readCounter, readEpoch, Segment, type SegmentPlace } from './segment.js';
import { type Answer, SingleRow } from './single.js';

/** Attempts before a query is `busy`: some milliseconds. */
const TRIES = 10_000;

/**
 * Queries a store that another thread writes. No answer mixes two writes. While a page is being written, its slots are
 * read again; a query that never finds them unchanged is `busy`.
 *
 * @example
 * // the thread that writes
 * worker.postMessage(store.share());
 * // another
 * const reader = new DartReader(places);
 * reader.query(key);
 */
export class DartReader {
  readonly geometry: StoreGeometry;
  readonly hashes: KeyHashes;
  readonly segments: readonly Segment[];
  readonly #slots: Uint32Array;
  /** The `begun` marks of a row's pages, before the slots were read. */
  readonly #marks: Int32Array;
  readonly #candidates: Candidates;
  readonly #single: SingleRow;
  /** A private word. An atomic access to it keeps the reads before it and after it in order. */
  readonly #fence = new Int32Array(new SharedArrayBuffer(4));

  /** @throws TypeError if these are not all segments of a store of the known layout */
  constructor(places: readonly SegmentPlace[]) {
    const { geometry, parameters } = readHeaders(places);
    this.geometry = geometry;
    this.hashes = new KeyHashes(parameters);
    this.segments = geometry.segments.map((segment, at) => new Segment(segment, geometry.slotBytes, places[at]!));
    this.#slots = new Uint32Array(geometry.copies);
    this.#marks = new Int32Array(geometry.copies);
    this.#candidates = new Candidates(geometry.copies, geometry.valueBytes);
    this.#single = new SingleRow(geometry.valueBytes);
  }

  /** Number of the epoch whose writes are in the store. */
  get epoch(): bigint {
    return readEpoch(this.segments[0]!.header);
  }

  /** Keys written in this epoch. */
  get keyWrites(): number {
    return readCounter(this.segments[0]!.header, HEADER.KEY_WRITES);
  }

  /** Like `DartStore.query`; the status may also be `busy`. */
  query(key: Uint8Array, policy: Policy = 'plurality'): Answer {
    const single = this.#single;
    this.queryRows(single.keys(key), single.answer, policy, 0, 1);
    return single.read();
  }

  /** Like `DartStore.queryRows`; a status may also be `STATUS.BUSY`. */
  queryRows(keys: KeyRows, out: AnswerRows, policy: Policy = 'plurality', from = 0, to = keys.offsets.length): void {
    const { valueBytes, checksumBits, copies, slots: count } = this.geometry;
    const number = policyNumber(policy);
    checkKeys(keys, from, to);
    checkAnswers(out, to, valueBytes);
    const slots = this.#slots;
    for (let row = from; row < to; row++) {
      const hash = this.hashes.all(keys.bytes, keys.offsets[row]!, keys.lengths[row]!, copies, slots);
      for (let copy = 0; copy < copies; copy++) slots[copy] = slots[copy]! % count;
      const checksum = cutChecksum(hash, checksumBits);
      let tries = TRIES;
      while (tries > 0 && !this.#read(checksum)) tries--;
      if (tries > 0) answer(out, row, this.#candidates, number, valueBytes);
      else {
        out.status[row] = STATUS.BUSY;
        out.matching[row] = 0;
        out.agreeing[row] = 0;
      }
    }
  }

  /** Reads the slots of a key. Returns false if one of them may have been written meanwhile. */
  #read(checksum: number): boolean {
    const { slotBytes, checksumBytes, copies, pageShift } = this.geometry;
    const slots = this.#slots;
    const marks = this.#marks;
    const candidates = this.#candidates;
    candidates.clear();
    for (let copy = 0; copy < copies; copy++) {
      const slot = slots[copy]!;
      const segment = this.#segmentOf(slot);
      const local = slot - segment.geometry.firstSlot;
      const page = local >>> pageShift;
      const begun = Atomics.load(segment.begun, page);
      if (Atomics.load(segment.done, page) !== begun) return false;
      marks[copy] = begun;
      if (slots.indexOf(slot) !== copy) continue;
      const at = local * slotBytes;
      if (readChecksum(segment.slots, at, checksumBytes) === checksum)
        candidates.add(segment.slots, at + checksumBytes);
    }
    Atomics.add(this.#fence, 0, 1);
    for (let copy = 0; copy < copies; copy++) {
      const slot = slots[copy]!;
      const segment = this.#segmentOf(slot);
      const page = (slot - segment.geometry.firstSlot) >>> pageShift;
      if (Atomics.load(segment.begun, page) !== marks[copy]) return false;
    }
    return true;
  }

  #segmentOf(slot: number): Segment {
    return this.segments[Math.floor(slot / this.geometry.segments[0]!.slots)]!;
  }
}
