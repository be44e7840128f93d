/** Queue pairs of a software RNIC, and the order of packets in them. */
import { whole } from '../layout.js';
import { OUTCOME } from './outcomes.js';
import { ENTRY_WORDS, MOST_QUEUE_PAIRS, QUEUE_PAIRS_AT, STATE_WORD, QUEUE_PAIR_WORD as WORD } from './rnic-state.js';

/** RC: reliable, with answers; atomics need it. UC: unreliable, so a lost packet stays lost. */
export type Service = 'uc' | 'rc';

/** A queue pair. Each switch needs its own, because each numbers its packets independently. */
export interface QueuePairOptions {
  /** 24 bits. */
  readonly number: number;
  /** Default `uc`. */
  readonly service?: Service;
  /** The first packet sequence number, 24 bits; if absent, that of the first packet. */
  readonly expectedPsn?: number;
  /** UC: the furthest that an accepted packet may be ahead, in packets, 1..2^23; default 2^23. */
  readonly window?: number;
  /** RC: the queue pair at the other side, which receives the answers; default the same number. */
  readonly peer?: number;
}

const MASK = 0xffffff;
const HALF = 0x800000;
/** Number of stale packets with successive numbers that indicates a restarted switch. */
export const STALE_RUN_LIMIT = 16;

/** The queue pairs in the state. The place of a queue pair is the index of its first word. */
export class QueuePairs {
  /** UC: lost packets, gaps, and restarted sequences. */
  lost = 0;
  gaps = 0;
  restarts = 0;
  readonly #state: Uint32Array;
  readonly #places = new Map<number, number>();
  readonly #windows: number[] = [];
  readonly #peers: number[] = [];
  #lastNumber = -1;
  #lastPlace = -1;

  constructor(state: Uint32Array) {
    this.#state = state;
  }

  /** @throws RangeError for a number out of its range, a queue pair that already exists, or too many queue pairs */
  add(options: QueuePairOptions): void {
    const { number, service = 'uc', expectedPsn, window = HALF, peer = number } = options;
    whole('queue pair', number, 0, MASK);
    whole('peer', peer, 0, MASK);
    whole('window', window, 1, HALF);
    if (service !== 'uc' && service !== 'rc') throw new RangeError(`service must be uc or rc, not ${String(service)}`);
    if (this.#places.has(number)) throw new RangeError(`queue pair ${number} is there already`);
    const index = this.#places.size;
    if (index === MOST_QUEUE_PAIRS) throw new RangeError(`more than ${MOST_QUEUE_PAIRS} queue pairs`);
    const place = QUEUE_PAIRS_AT + index * ENTRY_WORDS;
    this.#state.fill(0, place, place + ENTRY_WORDS);
    this.#state[place + WORD.NUMBER] = number;
    this.#state[place + WORD.SERVICE] = service === 'rc' ? 1 : 0;
    this.#places.set(number, place);
    this.#windows.push(window);
    this.#peers.push(peer);
    this.expect(number, expectedPsn ?? null);
    this.#state[STATE_WORD.QUEUE_PAIRS] = index + 1;
    this.#lastNumber = -1;
  }

  /** Sets the next sequence number; null takes it from the next packet. */
  expect(number: number, psn: number | null): void {
    const place = this.#places.get(number);
    if (place === undefined) throw new RangeError(`there is no queue pair ${number}`);
    if (psn !== null) whole('expected packet sequence number', psn, 0, MASK);
    const state = this.#state;
    state[place + WORD.EXPECTED] = psn ?? 0;
    state[place + WORD.IS_SYNCHRONISED] = psn === null ? 0 : 1;
    state[place + WORD.STALE_RUN] = 0;
    state[place + WORD.HAS_NAK] = 0;
  }

  /** The place of a queue pair; -1 if there is none. */
  find(number: number): number {
    if (number !== this.#lastNumber) {
      this.#lastNumber = number;
      this.#lastPlace = this.#places.get(number) ?? -1;
    }
    return this.#lastPlace;
  }

  isReliable(place: number): boolean {
    return this.#state[place + WORD.SERVICE] === 1;
  }

  peerOf(place: number): number {
    return this.#peers[(place - QUEUE_PAIRS_AT) / ENTRY_WORDS]!;
  }

  /**
   * UC: counts missing packets and advances the sequence past this packet.
   *
   * @param hasKey whether the packet names a region; otherwise it does not advance the sequence, so that senders
   *   without a remote key cannot disturb it
   * @returns -1, or STALE
   */
  takeUnreliable(place: number, psn: number, hasKey: boolean): number {
    const state = this.#state;
    const ahead = (psn - state[place + WORD.EXPECTED]!) & MASK;
    if (ahead !== 0 && state[place + WORD.IS_SYNCHRONISED] === 1) {
      if (ahead > this.#windows[(place - QUEUE_PAIRS_AT) / ENTRY_WORDS]!) {
        if (hasKey) this.#noteStale(place, psn);
        return OUTCOME.stale;
      }
      if (hasKey) {
        this.lost += ahead;
        this.gaps++;
      }
    }
    if (hasKey) {
      state[place + WORD.EXPECTED] = (psn + 1) & MASK;
      state[place + WORD.IS_SYNCHRONISED] = 1;
      state[place + WORD.STALE_RUN] = 0;
    }
    return -1;
  }

  /** RC: accepts only the next packet. @param hasKey see takeUnreliable @returns -1, GAP or DUPLICATE */
  takeReliable(place: number, psn: number, hasKey: boolean): number {
    const state = this.#state;
    const ahead = (psn - state[place + WORD.EXPECTED]!) & MASK;
    if (ahead !== 0 && state[place + WORD.IS_SYNCHRONISED] === 1) {
      return ahead < HALF ? OUTCOME.gap : OUTCOME.duplicate;
    }
    if (hasKey) {
      state[place + WORD.EXPECTED] = (psn + 1) & MASK;
      state[place + WORD.IS_SYNCHRONISED] = 1;
      state[place + WORD.MESSAGES] = (state[place + WORD.MESSAGES]! + 1) & MASK;
      state[place + WORD.HAS_NAK] = 0;
    }
    return -1;
  }

  expectedOf(place: number): number {
    return this.#state[place + WORD.EXPECTED]!;
  }

  messagesOf(place: number): number {
    return this.#state[place + WORD.MESSAGES]!;
  }

  /** RC: whether a gap still needs its answer; marks it as answered. */
  shouldAnswerGap(place: number): boolean {
    const at = place + WORD.HAS_NAK;
    if (this.#state[at] === 1) return false;
    this.#state[at] = 1;
    return true;
  }

  #noteStale(place: number, psn: number): void {
    const state = this.#state;
    const run = state[place + WORD.STALE_RUN]!;
    const follows = run > 0 && ((state[place + WORD.STALE_LAST]! + 1) & MASK) === psn;
    state[place + WORD.STALE_RUN] = follows ? run + 1 : 1;
    state[place + WORD.STALE_LAST] = psn;
    if (state[place + WORD.STALE_RUN] === STALE_RUN_LIMIT) {
      state[place + WORD.EXPECTED] = (psn + 1) & MASK;
      state[place + WORD.STALE_RUN] = 0;
      this.restarts++;
    }
  }
}
