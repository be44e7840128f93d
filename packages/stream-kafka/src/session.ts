import type { TopicPartition } from './kafka/assignment.js';
import type { LogRecord } from './kafka/committed.js';
import { pause } from './kafka/deadline.js';
import type { OutgoingMessage } from './kafka/outgoing.js';
import type { PartitionReader } from './kafka/reader.js';
import type { MemberAfter, Transactions } from './kafka/transactions.js';
import type { Pace } from './pace.js';
import { placeBytes, type StateKind, stateKey } from './state-log.js';
import type { Findings, Unit } from './unit.js';

/** Records taken between two checks whether to commit, wait or stop. */
export const PIECE = 256;
const AHEAD_PAUSE_MS = 10;
/** A longer time between two checks does not count as silence, because this process was delayed. */
const MOST_QUIET_MS = 1000;

/** The parts of a session. */
export interface SessionParts {
  /** The session's key for the pace. */
  readonly who: object;
  readonly at: TopicPartition;
  readonly stateTopic: string;
  readonly statePartition: number;
  readonly pace: Pace;
  readonly inStep: boolean;
  readonly reader: PartitionReader;
  readonly transactions: Transactions;
  readonly unit: Unit;
  /** Further messages for the first transaction. */
  readonly first: readonly OutgoingMessage[];
}

/** Processes a partition until an error: takes records and commits transactions. */
export class Session {
  readonly #parts: SessionParts;
  readonly unit: Unit;
  readonly reader: PartitionReader;
  #first: readonly OutgoingMessage[];
  /** Offset of the first record not yet taken. */
  #taken: number;
  #committed: number;
  /** Begin of the present silence; null if there is none. */
  #quietSince: number | null = null;
  /** Whether the unit was told that the partition has ended. */
  #isEnded = false;
  /** The reader's gaps that the unit was told of. */
  #gaps = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.unit = parts.unit;
    this.reader = parts.reader;
    this.#first = parts.first;
    this.#taken = parts.reader.position;
    this.#committed = parts.reader.position;
  }

  /** Messages in the partition that are not yet taken, at the broker's last reply. */
  get lag(): number {
    return Math.max(0, this.reader.highWatermark - this.#taken);
  }

  /** Takes a piece of the records, from `from` on. Waits first while other partitions are far behind. */
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
    // Markers of transactions may follow the last record; they are taken with it.
    this.#taken = isAll ? reader.position : records[to - 1]!.offset + 1;
    const hasBacklog = !isAll || reader.position < reader.highWatermark;
    if (unit.timeMs !== Number.NEGATIVE_INFINITY) pace.at(who, unit.timeMs, inStep && hasBacklog);
  }

  /** Call it if the broker has no new records. */
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

  /** Call it if the broker did not answer; this does not count as silence. */
  away(): void {
    this.#quietSince = null;
  }

  #noteGaps(): void {
    const { gaps } = this.reader;
    if (gaps > this.#gaps) this.unit.gap();
    this.#gaps = gaps;
  }

  /**
   * Commits everything since the last commit.
   * @param limitMs see `Transactions.commit`
   * @returns the committed findings; null if there was nothing to commit
   */
  async commit(memberAfter: MemberAfter, limitMs?: number): Promise<Findings | null> {
    const { unit, transactions, at } = this.#parts;
    const { messages, findings } = unit.results();
    const changes = unit.changes();
    const nothing = messages.length + changes.length + this.#first.length === 0;
    if (nothing && this.#taken === this.#committed) return null;
    const all = [...messages, ...this.#first];
    for (const { kind, key, value } of changes) all.push(this.#state(kind, key, value));
    const place = placeBytes({ offset: this.#taken, topicId: this.reader.topicId });
    all.push(this.#state('offset', undefined, place));
    // A partition that is gone has no offset. An offset of an earlier topic is not valid for this one.
    const { isGone, isMoving } = this.reader;
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
