import { randomBytes } from 'node:crypto';
import type { FlowSideOptions, FlowWindow, ImmediateEvent, NetworkSideOptions, NetworkWindow } from '@int/stream';
import { type Topics, topicsOf } from './findings.js';
import { FlowUnit, type ReportFormat } from './flow-unit.js';
import type { KafkaAccess } from './kafka/access.js';
import type { TopicPartition } from './kafka/assignment.js';
import { KafkaLink } from './kafka/link.js';
import { NetworkUnit } from './network-unit.js';
import { PartitionGroup } from './partition-group.js';
import type { PartitionWork } from './partition-task.js';
import type { Findings } from './unit.js';

/** Options of a {@link Processor}. All processors of a group must have the same, except for how they reach brokers. */
export interface ProcessorOptions extends KafkaAccess {
  /** Name of the consumer group; also the beginning of its transactional ids. Default `int-process`. */
  readonly group?: string;
  /** Beginning of the names of all topics. Default `int.`. */
  readonly prefix?: string;
  /** How the reports are written; `auto` goes by each message. Default `auto`. */
  readonly format?: ReportFormat;
  /** Time between two transactions of a partition, milliseconds. Default 1000. */
  readonly commitMs?: number;
  /** A processor that is silent for so long is taken for dead and its partitions go to others. Default 10,000. */
  readonly sessionMs?: number;
  /** Where to begin without state and without a committed offset. Default `earliest`. */
  readonly from?: 'earliest' | 'latest';
  /** Partitions of the topics of reports and of results, if they have to be made. Default 4. */
  readonly partitions?: number;
  /** Replicas of topics that have to be made. Default: as the brokers have it (`default.replication.factor`). */
  readonly replicas?: number;
  /** Length of a window of statistics in milliseconds, a multiple of `sliceMs`. Default 1000. */
  readonly windowMs?: number;
  /** How often each partition tells the network side what it has seen, in milliseconds of the reports' time. Default 250. */
  readonly sliceMs?: number;
  readonly flowSide?: Omit<FlowSideOptions, 'side' | 'windowMs' | 'sliceMs'>;
  /** `sides` is the number of partitions; `waitMs` is 30,000 unless given, to outlast a processor that takes over. */
  readonly networkSide?: Omit<NetworkSideOptions, 'sides' | 'windowMs' | 'sliceMs'>;
  /**
   * Where no more reports come, time goes on so far behind the latest of all partitions, milliseconds; `null`: time stands
   * still there. Default 1000.
   */
  readonly quietMs?: number | null;
  /** Called with each window after it was committed. */
  readonly onWindow?: (window: FlowWindow | NetworkWindow) => void;
  /** Called with each event after it was committed. */
  readonly onEvent?: (event: ImmediateEvent) => void;
  /** Called when this processor was given partitions, or lost them. */
  readonly onAssigned?: (partitions: readonly TopicPartition[]) => void;
  /** Called with what went wrong; the processor goes on by itself. */
  readonly onProblem?: (reason: string) => void;
}

/** What a processor has committed, over all partitions it has or had. */
export interface ProcessorTotals {
  /** Reports taken. */
  readonly reports: number;
  /** Partials taken. */
  readonly partials: number;
  /** Messages dropped because they were there before. */
  readonly repeated: number;
  /** Messages that could not be read. */
  readonly bad: number;
  /** Messages that the brokers had deleted before they were read. */
  readonly lost: number;
  readonly windows: number;
  readonly events: number;
  /** Transactions. */
  readonly commits: number;
  /** Times a partition was begun again after an error. */
  readonly restarts: number;
  /** Messages that are in this processor's partitions and not committed. */
  readonly lag: number;
  /** Partitions of the reports that it has now. */
  readonly partitions: readonly number[];
  /** Whether it has the network side now; one processor of the group has. */
  readonly hasNetworkSide: boolean;
}

const DEFAULTS = {
  GROUP: 'int-process',
  PREFIX: 'int.',
  COMMIT_MS: 1000,
  SESSION_MS: 10_000,
  PARTITIONS: 4,
  QUIET_MS: 1000,
  NETWORK_WAIT_MS: 30_000,
} as const;
/** As the brokers have it. */
const DEFAULT_REPLICAS = -1;
/** The network side reads this partition of the topic of partials: all of it. */
const NETWORK_PARTITION = 0;

/**
 * The stream processor as a member of a consumer group.
 *
 * Each partition of the topic of reports is a `FlowSide` of @int/stream of its own, and the partials of all of them go, by a topic
 * with one partition, to the `NetworkSide`. Windows, events, partials, changes of state and the offset of the
 * input are written in one transaction per partition and commit interval; whoever gets a partition puts its state
 * back from the log and goes on where that ends. So each report counts exactly once, whichever processes come and go, for
 * readers that read what is committed.
 */
export class Processor {
  readonly #options: ProcessorOptions;
  readonly #topics: Topics;
  #link: KafkaLink | null = null;
  #group: PartitionGroup | null = null;
  #reportPartitions = 0;
  #windows = 0;
  #events = 0;
  #stopped: Promise<void> | null = null;

  /** @throws RangeError for an option out of range */
  constructor(options: ProcessorOptions) {
    check(options);
    this.#options = options;
    this.#topics = topicsOf(options.prefix ?? DEFAULTS.PREFIX);
    // Tells at once what is wrong with the options of the sides.
    this.#makeFlowUnit(0);
    this.#makeNetworkUnit(1);
  }

  /**
   * Makes the topics that are missing, and joins the group.
   * @throws ProcessError `unreachable` or `topic`
   */
  async start(): Promise<void> {
    if (this.#link !== null) throw new TypeError('a processor starts once');
    const { group = DEFAULTS.GROUP, quietMs = DEFAULTS.QUIET_MS, from = 'earliest' } = this.#options;
    const link = new KafkaLink(this.#options, `int-process-${randomBytes(4).toString('hex')}`);
    this.#link = link;
    try {
      await link.reach();
      await this.#makeTopics(link);
    } catch (error) {
      link.close();
      throw error;
    }
    // Stopped in the meantime.
    if (this.#stopped !== null) return;
    this.#group = new PartitionGroup(link, {
      group,
      topics: [this.#topics.reports, this.#topics.partials],
      stateTopic: this.#topics.state,
      sessionMs: this.#options.sessionMs ?? DEFAULTS.SESSION_MS,
      commitMs: this.#options.commitMs ?? DEFAULTS.COMMIT_MS,
      quietMs,
      from,
      workFor: (at) => this.#workFor(at),
      onCommitted: (findings) => this.#committed(findings),
      onAssigned: (partitions) => this.#options.onAssigned?.(partitions),
      onProblem: (reason) => this.#options.onProblem?.(reason),
    });
    this.#group.start();
  }

  totals(): ProcessorTotals {
    const reports = this.#group?.counts(this.#topics.reports);
    const partials = this.#group?.counts(this.#topics.partials);
    const sum = (of: 'repeated' | 'bad' | 'lost' | 'commits' | 'restarts' | 'lag'): number =>
      (reports?.[of] ?? 0) + (partials?.[of] ?? 0);
    return {
      reports: reports?.taken ?? 0,
      partials: partials?.taken ?? 0,
      repeated: sum('repeated'),
      bad: sum('bad'),
      lost: sum('lost'),
      windows: this.#windows,
      events: this.#events,
      commits: sum('commits'),
      restarts: sum('restarts'),
      lag: sum('lag'),
      partitions: reports?.partitions ?? [],
      hasNetworkSide: partials?.partitions.includes(NETWORK_PARTITION) ?? false,
    };
  }

  /** Commits what was taken, leaves the group and closes all connections. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    await this.#group?.stop();
    this.#link?.close();
  }

  async #makeTopics(link: KafkaLink): Promise<void> {
    const { partitions: make = DEFAULTS.PARTITIONS, replicas = DEFAULT_REPLICAS } = this.#options;
    const { reports, windows, immediate, partials, state } = this.#topics;
    this.#reportPartitions = await link.topic({ topic: reports, partitions: 1, make, replicas });
    await link.topic({ topic: windows, partitions: 1, make, replicas });
    await link.topic({ topic: immediate, partitions: 1, make, replicas });
    await link.topic({ topic: partials, partitions: 1, make: 1, replicas });
    const states = 1 + this.#reportPartitions;
    await link.topic({ topic: state, partitions: states, make: states, replicas, compacted: true });
  }

  #workFor({ topic, partition }: TopicPartition): PartitionWork | null {
    if (topic === this.#topics.partials) {
      if (partition !== NETWORK_PARTITION) return null;
      // Partition 0 of the state is the network's, the others are those of the reports.
      const makeUnit = (): NetworkUnit => this.#makeNetworkUnit(this.#reportPartitions);
      return { statePartition: 0, makeUnit, inStep: false };
    }
    if (partition >= this.#reportPartitions) {
      const reason = `${topic} has grown: start all processors again, so that partition ${partition} is read as well`;
      this.#options.onProblem?.(reason);
      return null;
    }
    return { statePartition: 1 + partition, makeUnit: () => this.#makeFlowUnit(partition), inStep: true };
  }

  #makeFlowUnit(partition: number): FlowUnit {
    const { format = 'auto' } = this.#options;
    const options = { ...this.#options.flowSide, ...this.#times(), side: partition };
    return new FlowUnit(options, format, this.#topics, this.#wantsObjects());
  }

  #makeNetworkUnit(sides: number): NetworkUnit {
    const options = { waitMs: DEFAULTS.NETWORK_WAIT_MS, ...this.#options.networkSide, ...this.#times(), sides };
    return new NetworkUnit(options, this.#topics, this.#wantsObjects());
  }

  #times(): { windowMs?: number; sliceMs?: number } {
    const { windowMs, sliceMs } = this.#options;
    return {
      ...(windowMs === undefined ? {} : { windowMs }),
      ...(sliceMs === undefined ? {} : { sliceMs }),
    };
  }

  #wantsObjects(): boolean {
    return this.#options.onWindow !== undefined || this.#options.onEvent !== undefined;
  }

  #committed(findings: Findings): void {
    this.#windows += findings.windowCount;
    this.#events += findings.eventCount;
    if (this.#options.onWindow !== undefined) findings.windows.forEach(this.#options.onWindow);
    if (this.#options.onEvent !== undefined) findings.events.forEach(this.#options.onEvent);
  }
}

function check(options: ProcessorOptions): void {
  const { bootstrap, commitMs, sessionMs, partitions, quietMs, group } = options;
  if (bootstrap.length === 0) throw new RangeError('processor: bootstrap must name a broker');
  if (group?.includes('\0') === true || group === '') throw new RangeError('processor: group must be a name');
  const ranges: readonly (readonly [string, number | null | undefined, number, number])[] = [
    ['commitMs', commitMs, 10, 3_600_000],
    ['sessionMs', sessionMs, 1000, 3_600_000],
    ['partitions', partitions, 1, 10_000],
    ['quietMs', quietMs, 0, 3_600_000],
  ];
  for (const [name, value, least, most] of ranges) {
    if (value === undefined || value === null) continue;
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new RangeError(`processor: ${name} must be an integer from ${least} to ${most}, not ${value}`);
    }
  }
}
