import { nameOf, type TopicPartition } from './kafka/assignment.js';
import type { KafkaLink } from './kafka/link.js';
import { Membership, type MembershipOptions, type PartitionCounts } from './kafka/membership.js';
import { Pace } from './pace.js';
import { PartitionTask, type PartitionWork, type TaskContext, type TaskCounts } from './partition-task.js';
import { added, NO_COUNTS as NO_UNIT_COUNTS, type UnitProgress } from './unit.js';

type MemberOptions = Omit<MembershipOptions, 'heartbeatMs' | 'onAssigned' | 'partitionsOf'>;

export interface PartitionGroupOptions extends MemberOptions, Omit<TaskContext, 'link' | 'membership' | 'pace'> {
  /** As of {@link MembershipOptions}. Default: the present number. */
  readonly partitionsOf?: MembershipOptions['partitionsOf'];
  /** The work for a partition; null for none. */
  readonly workFor: (at: TopicPartition) => PartitionWork | null;
  /**
   * Called at each generation with the topics' numbers of partitions, before any work on them.
   * @returns topics whose partitions must be restarted
   */
  readonly onCounted?: (counts: PartitionCounts) => readonly string[];
  readonly onAssigned: (partitions: readonly TopicPartition[]) => void;
}

/** Counts of one topic's partitions, and the partitions assigned now. */
export interface TopicCounts extends TaskCounts {
  readonly partitions: readonly number[];
}

const NO_COUNTS: TaskCounts = { ...NO_UNIT_COUNTS, commits: 0, restarts: 0, lost: 0, lag: 0 };
export const NO_TOPIC_COUNTS: TopicCounts = { ...NO_COUNTS, partitions: [] };
/** Greatest lead over the slowest partition with a backlog, in milliseconds of the records' time. */
const SLACK_MS = 1000;

/** A member of a consumer group with a task per assigned partition. */
export class PartitionGroup {
  readonly #options: PartitionGroupOptions;
  readonly #context: TaskContext;
  readonly #tasks = new Map<string, { readonly task: PartitionTask; readonly at: TopicPartition }>();
  /** Tasks that are ending. A partition that is assigned again waits for its previous task. */
  readonly #ending = new Map<string, Promise<void>>();
  /** Counts of ended tasks, by topic. */
  readonly #past = new Map<string, TaskCounts>();
  #stopped: Promise<void> | null = null;

  constructor(link: KafkaLink, options: PartitionGroupOptions) {
    this.#options = options;
    const membership = new Membership(link, {
      partitionsOf: (_, count) => Promise.resolve(count),
      ...options,
      heartbeatMs: Math.min(1000, Math.floor(options.sessionMs / 3)),
      onAssigned: (partitions, counts) => this.#assigned(partitions, counts),
    });
    this.#context = { ...options, link, membership, pace: new Pace(SLACK_MS) };
  }

  /** Joins the group, and rejoins when necessary. */
  start(): void {
    this.#context.membership.start();
  }

  /** Counts of a topic's committed input in this process. */
  counts(topic: string): TopicCounts {
    const running = [...this.#tasks.values()].filter(({ at }) => at.topic === topic);
    const now = running.map(({ task }) => task.counts()).reduce(added, NO_COUNTS);
    const past = this.#past.get(topic) ?? NO_COUNTS;
    return {
      ...added(past, now),
      lag: now.lag,
      partitions: running
        .filter(({ task }) => !task.isGone)
        .map(({ at }) => at.partition)
        .sort((a, b) => a - b),
    };
  }

  /** Progress of the units of a topic's partitions. */
  progress(topic: string): readonly { readonly partition: number; readonly progress: UnitProgress }[] {
    return [...this.#tasks.values()]
      .filter(({ at }) => at.topic === topic)
      .map(({ at, task }) => ({ partition: at.partition, progress: task.progress() }));
  }

  /** Commits everything taken and leaves the group. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    await Promise.all([...this.#tasks.keys()].map((name) => this.#end(name, true)));
    await Promise.all(this.#ending.values());
    await this.#context.membership.close();
  }

  /** Handles a new generation of the group. Partitions that stay continue undisturbed. */
  #assigned(partitions: readonly TopicPartition[], counts: PartitionCounts): void {
    if (this.#stopped !== null) return;
    const anew = this.#options.onCounted?.(counts) ?? [];
    for (const [name, { at }] of [...this.#tasks]) if (anew.includes(at.topic)) void this.#end(name, false);
    const names = new Set(partitions.map(nameOf));
    const gone = [...this.#tasks.keys()].filter((name) => !names.has(name));
    const come = partitions.filter((at) => !this.#tasks.has(nameOf(at)));
    for (const name of gone) void this.#end(name, false);
    for (const at of come) this.#begin(at);
    if (gone.length + come.length > 0) this.#options.onAssigned([...this.#tasks.values()].map(({ at }) => at));
  }

  #begin(at: TopicPartition): void {
    const work = this.#options.workFor(at);
    if (work === null) return;
    const name = nameOf(at);
    const task = new PartitionTask(this.#context, at, work, this.#ending.get(name));
    this.#tasks.set(name, { task, at });
  }

  async #end(name: string, finish: boolean): Promise<void> {
    const found = this.#tasks.get(name);
    if (found === undefined) return;
    this.#tasks.delete(name);
    const { task, at } = found;
    const ended = task.stop(finish).then(() => {
      this.#past.set(at.topic, added(this.#past.get(at.topic) ?? NO_COUNTS, task.counts()));
      if (this.#ending.get(name) === ended) this.#ending.delete(name);
    });
    this.#ending.set(name, ended);
    await ended;
  }
}
