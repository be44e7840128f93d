import type { TopicPartition } from './kafka/assignment.js';
import type { LogRecord } from './kafka/committed.js';
import { pause } from './kafka/deadline.js';
import type { OutgoingMessage } from './kafka/outgoing.js';
import type { PartitionReader } from './kafka/reader.js';
import type { MemberAfter, Transactions } from './kafka/transactions.js';
import type { Pace } from './pace.js';
import { placeBytes, STATE_KINDS, type StateKind, stateKey } from './state-log.js';
import type { Findings, Unit } from './unit.js';

/** Records to take before looking whether to commit, to wait or to stop. */
export const PIECE = 256;
const AHEAD_PAUSE_MS = 10;
/** More than that between two looks is no silence: this process was held up. */
const MOST_QUIET_MS = 1000;

const STATE_KIND_OF = {
  side: STATE_KINDS.SIDE,
  repeats: STATE_KINDS.REPEATS,
  writers: STATE_KINDS.WRITERS,
} as const;

/** What a session works with. */
export interface SessionParts {
  /** Who this is for the pace. */
  readonly who: object;
  readonly at: TopicPartition;
  readonly stateTopic: string;
  readonly statePartition: number;
  readonly pace: Pace;
  readonly inStep: boolean;
  readonly reader: PartitionReader;
  readonly transactions: Transactions;
  readonly unit: Unit;
  /** Messages for the first transaction besides results and changes. */
  readonly first: readonly OutgoingMessage[];
}

/** What is done with a partition between two errors: records in, transactions out. */
export class Session {
  readonly #parts: SessionParts;
  #first: readonly OutgoingMessage[];
  /** Offset of the first record that is not taken. */
  #taken: number;
  #committed: number;
  /** Since when it is known that nothing came; null: something came. */
  #quietSince: number | null = null;
  /** The unit was told that there is nothing to read any more. */
  #isEnded = false;
  /** Of the reader, as told to the unit. */
  #gaps = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#first = parts.first;
    this.#taken = parts.reader.position;
    this.#committed = parts.reader.position;
  }

  get unit(): Unit {
    return this.#parts.unit;
  }

  get reader(): PartitionReader {
    return this.#parts.reader;
  }

  /** Messages that are in the partition and not taken, when the broker was last asked. */
  get lag(): number {
    return Math.max(0, this.#parts.reader.highWatermark - this.#taken);
  }

  /** Takes a piece of the records, from `from` on; waits before while others are far behind. */
  async take(records: readonly LogRecord[], from: number, signal: AbortSignal): Promise<void> {
    const { pace, who, unit, reader, inStep } = this.#parts;
    this.#quietSince = null;
    this.#isEnded = false;
    this.#noteGaps();
    while (inStep && !pace.mayGoOn(who, unit.timeMs) && !signal.aborted) await pause(AHEAD_PAUSE_MS, signal);
    if (signal.aborted) return;
    const to = Math.min(records.length, from + PIECE);
    unit.take(records, from, to);
    const isAll = to === records.length;
    // Behind the last record there may be ends of transactions, which are taken with it.
    this.#taken = isAll ? reader.position : records[to - 1]!.offset + 1;
    const hasBacklog = !isAll || reader.position < reader.highWatermark;
    if (unit.timeMs !== Number.NEGATIVE_INFINITY) pace.at(who, unit.timeMs, inStep && hasBacklog);
  }

  /** There was nothing to read, as a broker has said. */
  quiet(): void {
    const { pace, who, reader, unit } = this.#parts;
    this.#taken = reader.position;
    this.#noteGaps();
    if (reader.isGone) {
      pace.caughtUp(who);
      if (!this.#isEnded) unit.end();
      this.#isEnded = true;
      return;
    }
    if (reader.position < reader.highWatermark) return;
    pace.caughtUp(who);
    const now = performance.now();
    if (this.#quietSince !== null) unit.quiet(Math.min(MOST_QUIET_MS, now - this.#quietSince));
    this.#quietSince = now;
  }

  /** The broker could not be asked: that is no silence. */
  away(): void {
    this.#quietSince = null;
  }

  #noteGaps(): void {
    const { gaps } = this.#parts.reader;
    if (gaps > this.#gaps) this.#parts.unit.gap();
    this.#gaps = gaps;
  }

  /**
   * Commits what there is since the last time.
   * @param limitMs as `Transactions.commit`
   * @returns what was found; null if there was nothing to commit
   */
  async commit(memberAfter: MemberAfter, limitMs?: number): Promise<Findings | null> {
    const { unit, transactions, at } = this.#parts;
    const { messages, findings } = unit.results();
    const changes = unit.changes();
    const nothing = messages.length + changes.length + this.#first.length === 0;
    if (nothing && this.#taken === this.#committed) return null;
    const all = [...messages, ...this.#first];
    for (const { kind, key, value } of changes) {
      all.push(this.#state(STATE_KIND_OF[kind], key, value));
    }
    const place = placeBytes({ offset: this.#taken, topicId: this.#parts.reader.topicId });
    all.push(this.#state(STATE_KINDS.OFFSET, undefined, place));
    // A partition that is gone has no offset, and that of a topic before is none of this one.
    const { isGone, isMoving } = this.#parts.reader;
    const next = isGone || isMoving ? null : this.#taken;
    await transactions.commit(all, { ...at, next }, memberAfter, limitMs);
    this.#first = [];
    this.#committed = this.#taken;
    return findings;
  }

  #state(kind: StateKind, name: Uint8Array | undefined, value: Uint8Array | null): OutgoingMessage {
    const { stateTopic, statePartition } = this.#parts;
    return { topic: stateTopic, partition: statePartition, key: stateKey(kind, name), value };
  }
}
