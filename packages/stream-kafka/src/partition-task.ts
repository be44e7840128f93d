import { PROCESS_CODES, ProcessError, Revoked, reasonOf } from './errors.js';
import type { TopicPartition } from './kafka/assignment.js';
import type { LogRecord } from './kafka/committed.js';
import { pause } from './kafka/deadline.js';
import type { KafkaLink } from './kafka/link.js';
import type { GroupMember, Membership } from './kafka/membership.js';
import type { OutgoingMessage } from './kafka/outgoing.js';
import { PartitionReader } from './kafka/reader.js';
import { Transactions } from './kafka/transactions.js';
import type { Pace } from './pace.js';
import { PIECE, Session } from './session.js';
import { type InputPlace, readState, type StoredState, stateKey } from './state-log.js';
import { added, type Findings, NO_COUNTS, type Unit, type UnitCounts, type UnitProgress } from './unit.js';

/** The work for a partition. */
export interface PartitionWork {
  /** The partition of the state topic that belongs to this one alone. */
  readonly statePartition: number;
  /** Makes prerequisites before the work begins. */
  readonly prepare?: () => Promise<void>;
  readonly makeUnit: () => Unit;
  /** Whether to keep in step with the other partitions with this setting, while they have backlogs. */
  readonly inStep: boolean;
}

/** The context that all tasks of a process share. */
export interface TaskContext {
  readonly link: KafkaLink;
  readonly membership: Membership;
  readonly pace: Pace;
  readonly group: string;
  readonly stateTopic: string;
  readonly commitMs: number;
  /** Start position without state and without a committed offset. */
  readonly from: 'earliest' | 'latest';
  readonly onCommitted: (findings: Findings) => void;
  readonly onProblem: (reason: string) => void;
}

/** Counts of a partition's input in this process. */
export interface TaskCounts extends UnitCounts {
  /** Transactions committed. */
  readonly commits: number;
  /** Restarts after an error. */
  readonly restarts: number;
  /** Messages that the broker deleted before they were read. */
  readonly lost: number;
  /** Messages in the partition that are not yet committed, at the broker's last reply. */
  readonly lag: number;
}

const READ_WAIT_MS = 200;
const READ_BYTES = 1024 * 1024;
/** Bytes of results beyond which a transaction is committed early. */
const COMMIT_BYTES = 8 * 1024 * 1024;
const BACK_OFF_MS = { first: 100, most: 5000 };
/** Interval for checking whether the coordinator has confirmed the membership. */
const CONFIRM_POLL_MS = 50;
/** Longest wait of an open transaction for the group: while working, and on stopping. */
const MEMBER_MS = { working: 20_000, stopping: 5000 };
/** Time limit of the last transaction, so that stopping does not wait long for unreachable brokers. */
const LAST_COMMIT_MS = 5000;
const NO_PROGRESS: UnitProgress = { behindMs: 0, trouble: null };

/**
 * Processes one partition of the input, from its assignment to its end. It takes over the partition's transactional id,
 * restores the state, continues from the state's position, and commits results, state and offset together.
 *
 * After any error it repeats all of this: uncommitted results are computed again from the committed state.
 */
export class PartitionTask {
  readonly #context: TaskContext;
  readonly #at: TopicPartition;
  readonly #work: PartitionWork;
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;
  /** Whether to commit on stopping. */
  #finish = false;
  /** Counts of earlier units. */
  #before = NO_COUNTS;
  /** Counts of the running unit at its last commit. */
  #committed = NO_COUNTS;
  #unit: Unit | null = null;
  #reader: PartitionReader | null = null;
  #commits = 0;
  #restarts = 0;
  #lost = 0;
  #lag = 0;

  /** @param before the end of the partition's previous task in this process, to wait for */
  constructor(context: TaskContext, at: TopicPartition, work: PartitionWork, before?: Promise<void>) {
    this.#context = context;
    this.#at = at;
    this.#work = work;
    this.#done = before === undefined ? this.#run() : before.then(() => this.#run());
  }

  /** Counts of committed input only. */
  counts(): TaskCounts {
    return {
      ...added(this.#before, this.#committed),
      commits: this.#commits,
      restarts: this.#restarts,
      lost: this.#lost + (this.#reader?.lost ?? 0),
      lag: this.#lag,
    };
  }

  /** Progress of the running unit. */
  progress(): UnitProgress {
    return this.#unit?.progress() ?? NO_PROGRESS;
  }

  /** Whether the topic no longer has the partition. */
  get isGone(): boolean {
    return this.#reader?.isGone ?? false;
  }

  /** @param finish whether to commit everything taken; otherwise the next owner of the partition takes it again */
  async stop(finish: boolean): Promise<void> {
    this.#finish = finish;
    this.#stopping.abort();
    await this.#done;
  }

  get #name(): string {
    return `partition ${this.#at.partition} of ${this.#at.topic}`;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { onProblem, pace, membership } = this.#context;
    let wait: number = BACK_OFF_MS.first;
    while (!signal.aborted) {
      const commits = this.#commits;
      try {
        await this.#session();
        return;
      } catch (error) {
        if (error instanceof Revoked) return;
        if (signal.aborted) {
          if (this.#finish) onProblem(`${reasonOf(error)}; what was not committed of ${this.#name} is left to others`);
          return;
        }
        this.#restarts++;
        onProblem(`${reasonOf(error)}; beginning ${this.#name} again`);
        if (this.#commits > commits) wait = BACK_OFF_MS.first;
        await pause(wait, signal);
        wait = Math.min(wait * 2, BACK_OFF_MS.most);
        // Another process may have the partition. Unless the coordinator says so, take it over again.
        const isFenced = error instanceof ProcessError && error.code === PROCESS_CODES.FENCED;
        if (isFenced) await this.#confirmed(membership.confirmations);
      } finally {
        pace.caughtUp(this);
        this.#unit = null;
      }
    }
  }

  async #session(): Promise<void> {
    const { link, stateTopic, group, pace } = this.#context;
    const { topic, partition } = this.#at;
    const { statePartition, inStep } = this.#work;
    await this.#work.prepare?.();
    const transactions = await Transactions.open(link, `${group}-${topic}-${partition}`);
    try {
      const stored = await readState(link, stateTopic, statePartition, this.#stopping.signal);
      const { unit, first } = this.#restored(stored);
      const { offset, topicId } = await this.#start(stored);
      const reader = new PartitionReader(link, topic, partition, offset, topicId);
      const parts = { stateTopic, statePartition, pace, inStep, reader, transactions, unit, first };
      this.#unit = unit;
      this.#reader = reader;
      try {
        await this.#process(new Session({ ...parts, who: this, at: this.#at }));
      } finally {
        this.#before = added(this.#before, this.#committed);
        this.#committed = NO_COUNTS;
        this.#lost += reader.lost;
        this.#reader = null;
        reader.close();
      }
    } finally {
      transactions.close();
    }
  }

  async #process(session: Session): Promise<void> {
    const { signal } = this.#stopping;
    const { commitMs } = this.#context;
    let due = performance.now() + commitMs;
    // Commit the position in a topic before reading a new topic of the same name.
    const isDue = (): boolean =>
      performance.now() >= due || session.unit.waitingBytes > COMMIT_BYTES || session.reader.isMoving;
    while (!signal.aborted) {
      const records = await this.#read(session, due);
      for (let from = 0; from < (records?.length ?? 0) && !signal.aborted; from += PIECE) {
        await session.take(records!, from, signal);
        if (!isDue()) continue;
        await this.#commit(session);
        due = performance.now() + commitMs;
      }
      if (signal.aborted) break;
      if (records?.length === 0) session.quiet();
      if (!isDue()) continue;
      await this.#commit(session);
      due = performance.now() + commitMs;
    }
    if (this.#finish) await this.#commit(session);
  }

  /** Waits for records; survives outages of brokers. @returns null if it was aborted */
  async #read(session: Session, due: number): Promise<readonly LogRecord[] | null> {
    const { signal } = this.#stopping;
    let wait: number = BACK_OFF_MS.first;
    for (;;) {
      const left = Math.max(1, due - performance.now());
      const { gaps, isGone } = session.reader;
      try {
        const records = await session.reader.read(Math.min(READ_WAIT_MS, left), READ_BYTES);
        if (session.reader.gaps > gaps) {
          this.#context.onProblem(`messages of ${this.#name} were deleted before they were read`);
        }
        if (session.reader.isGone && !isGone) {
          this.#context.onProblem(`${this.#name} is gone, with what was not read of it: the topic has fewer now`);
        }
        return records;
      } catch (error) {
        session.away();
        // Records already taken remain valid.
        if (wait === BACK_OFF_MS.first && !signal.aborted) this.#context.onProblem(reasonOf(error));
        await pause(wait, signal);
        if (signal.aborted) return null;
        wait = Math.min(wait * 2, BACK_OFF_MS.most);
      }
    }
  }

  async #commit(session: Session): Promise<void> {
    this.#lag = session.lag;
    const counts = session.unit.counts();
    const limitMs = this.#stopping.signal.aborted ? LAST_COMMIT_MS : undefined;
    const findings = await session.commit((generation) => this.#memberAfter(generation), limitMs);
    if (findings === null) return;
    this.#commits++;
    this.#committed = counts;
    this.#context.onCommitted(findings);
  }

  /** The member in a generation other than `generation`; null accepts any generation. */
  async #memberAfter(generation: number | null): Promise<GroupMember> {
    const { membership, group } = this.#context;
    const since = performance.now();
    for (;;) {
      const member = membership.member;
      if (member !== null && member.generationId !== generation) return member;
      const isStopping = this.#stopping.signal.aborted;
      if (isStopping && !this.#finish) throw new Revoked();
      if (performance.now() - since > (isStopping ? MEMBER_MS.stopping : MEMBER_MS.working)) {
        throw new ProcessError(PROCESS_CODES.REQUEST, `group ${group} does not have this member`);
      }
      await new Promise((resolve) => setTimeout(resolve, CONFIRM_POLL_MS));
    }
  }

  async #confirmed(before: number): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted && this.#context.membership.confirmations === before) await pause(CONFIRM_POLL_MS, signal);
  }

  /** A unit with the stored state. If the state is invalid, a unit without it, and messages that delete it. */
  #restored(stored: StoredState): { readonly unit: Unit; readonly first: readonly OutgoingMessage[] } {
    const { onProblem, stateTopic } = this.#context;
    const { makeUnit, statePartition } = this.#work;
    const unit = makeUnit();
    try {
      unit.restore(stored);
      return { unit, first: [] };
    } catch (error) {
      onProblem(`the state of ${this.#name} is not of these options and left out: ${reasonOf(error)}`);
      const first = stored.side.map(({ key }) => ({
        topic: stateTopic,
        partition: statePartition,
        key: stateKey('side', key),
        value: null,
      }));
      const fresh = makeUnit();
      fresh.restore({ side: [], repeats: stored.repeats, writers: stored.writers });
      return { unit: fresh, first };
    }
  }

  async #start(stored: StoredState): Promise<InputPlace> {
    if (stored.place !== null) return stored.place;
    const { link, from, group } = this.#context;
    const { topic, partition } = this.#at;
    const layout = await link.layout(topic);
    if (layout !== null && partition >= layout.leaders.length) return { offset: 0, topicId: null };
    const committed = await link.committed(group, topic, partition);
    return { offset: committed ?? (await link.offset(topic, partition, from)), topicId: null };
  }
}
