import { createHash, randomBytes } from 'node:crypto';
import type { DeviceProfile } from '@int/network';
import type {
  FlowSideOptions,
  FlowWindow,
  ImmediateEvent,
  NetworkSideOptions,
  NetworkWindow,
  TimeOptions,
  WindowCorrection,
} from '@int/stream';
import { DEFAULT_GROUP, type Topics, topicsOf } from './findings.js';
import { FlowUnit, type ReportFormat } from './flow-unit.js';
import type { TopicPartition } from './kafka/assignment.js';
import type { KafkaAccess } from './kafka/connections.js';
import { KafkaLink } from './kafka/link.js';
import { NetworkUnit } from './network-unit.js';
import { NO_TOPIC_COUNTS, PartitionGroup } from './partition-group.js';
import type { PartitionWork, TaskCounts } from './partition-task.js';
import { added, type Findings } from './unit.js';
import type { WriterLimits } from './writers.js';

/**
 * Options of a {@link Processor}. All processors of a group must have the same `format`, times and options of sides.
 * The group refuses a processor with others while it has members.
 */
export interface ProcessorOptions extends KafkaAccess, TimeOptions {
  /**
   * Name of the consumer group: letters, digits, `.`, `_` and `-`. It is also the prefix of transactional ids, and part
   * of the names of topics. Default `int-process`.
   */
  readonly group?: string;
  /** Prefix of the names of all topics. Default `int.`. */
  readonly prefix?: string;
  /** Format of the reports; `auto` detects it per message. Default `auto`. */
  readonly format?: ReportFormat;
  /** Time between two transactions of a partition, in milliseconds. Default 1000. */
  readonly commitMs?: number;
  /** Time without heartbeats after which a processor's partitions go to others, in milliseconds. Default 10,000. */
  readonly sessionMs?: number;
  /** Start position without state and without a committed offset. Default `earliest`. */
  readonly from?: 'earliest' | 'latest';
  /** Partitions of new topics of reports and of results. Default 4. */
  readonly partitions?: number;
  /** Replicas of new topics. Default: the brokers' `default.replication.factor`. */
  readonly replicas?: number;
  /** Time for which an emitted window can be corrected, in milliseconds of the reports' time. Default 60,000. */
  readonly latenessMs?: number;
  /**
   * Longest wait of windows for a silent sink that has written watermarks, in milliseconds. Default 30,000. Time counts
   * while other sinks are active, or while a partition is read to its end and no sink is.
   */
  readonly waitMs?: number;
  /**
   * Time after that wait in which all windows count as incomplete, unless the sink is active again, in milliseconds.
   * Default 300,000.
   */
  readonly forgetMs?: number;
  /**
   * The switches that there are, ids of 0 to 2^32 - 1. Reports that name others are counted as `unknownSwitch` and become
   * part of no window and no event. Default: any id may be one.
   */
  readonly knownSwitches?: Iterable<number>;
  /**
   * What the units of the numbers are. The numbers stay as the switches reported them; messages of windows and events name the units
   * in `units`. Default: nothing is known, and no message names any.
   */
  readonly device?: DeviceProfile;
  readonly flowSide?: Omit<FlowSideOptions, 'side' | 'clock' | 'latenessMs' | keyof TimeOptions>;
  /**
   * Options of the network side. `sides` is the number of partitions. The default of `waitMs` is the `waitMs` above
   * plus 30,000, to allow another processor to take over.
   */
  readonly networkSide?: Omit<NetworkSideOptions, 'sides' | 'latenessMs' | keyof TimeOptions>;
  /** Called with each window after it was committed. */
  readonly onWindow?: (window: FlowWindow | NetworkWindow) => void;
  /** Called with each correction of an emitted window, after it was committed. */
  readonly onCorrection?: (correction: WindowCorrection) => void;
  /** Called with each event after it was committed. */
  readonly onEvent?: (event: ImmediateEvent) => void;
  /** Called when this processor gains or loses partitions. */
  readonly onAssigned?: (partitions: readonly TopicPartition[]) => void;
  /** Called with a description of each problem. The processor continues. */
  readonly onProblem?: (reason: string) => void;
}

/** The committed totals of a processor, over all partitions it has or had. */
export interface ProcessorTotals {
  /** Reports taken. */
  readonly reports: number;
  /** Partials taken. */
  readonly partials: number;
  /** Repeated messages, which were dropped. */
  readonly repeated: number;
  /** Invalid messages. */
  readonly bad: number;
  /** Reports that name a switch that there is not, which were dropped. */
  readonly unknownSwitch: number;
  /** Messages that the brokers deleted before they were read. */
  readonly lost: number;
  /** Reports that came too late for their flow's window; windows only count them as `late`. */
  readonly late: number;
  /** Hop records and reports that came too late for their switch's window, likewise. */
  readonly networkLate: number;
  /** Reports that came after their window was emitted, and caused a corrected window. */
  readonly corrected: number;
  /** Reports of flows or windows for which there was no room. */
  readonly untracked: number;
  /** Reports without a flow. No flow window contains them. */
  readonly withoutFlow: number;
  /** Windows emitted as incomplete. */
  readonly incomplete: number;
  readonly windows: number;
  readonly events: number;
  /** Transactions committed. */
  readonly commits: number;
  /** Restarts of partitions after an error. */
  readonly restarts: number;
  /** Uncommitted messages in this processor's partitions. */
  readonly lag: number;
  /**
   * Wait of windows, in milliseconds: the lag of its slowest partition's time behind the latest time that any sink has
   * reported there.
   */
  readonly behindMs: number;
  /** Partitions of the reports that it has now. */
  readonly partitions: readonly number[];
  /** Whether it has the network side now; one processor of the group has. */
  readonly hasNetworkSide: boolean;
}

const DEFAULTS = {
  PREFIX: 'int.',
  COMMIT_MS: 1000,
  SESSION_MS: 10_000,
  PARTITIONS: 4,
  LATENESS_MS: 60_000,
  WAIT_MS: 30_000,
  FORGET_MS: 300_000,
  NETWORK_WAIT_MS: 30_000,
} as const;
/** The brokers' default. */
const DEFAULT_REPLICAS = -1;
/** The only partition of the topic of partials, which the network side reads. */
const NETWORK_PARTITION = 0;

/**
 * The stream processor as a member of a consumer group.
 *
 * Each partition of the topic of reports has its own `FlowSide` of @int/stream. The partials of all flow sides go to
 * the `NetworkSide` through a topic with one partition. One transaction per partition and commit interval writes
 * windows, events, partials, changes of state and the offset of the input. A process that takes over a partition
 * restores its state from the log and continues from there. Readers of committed messages therefore see each report
 * counted exactly once, even if processes start and stop.
 */
export class Processor {
  readonly #options: ProcessorOptions;
  readonly #topics: Topics;
  #link: KafkaLink | null = null;
  #group: PartitionGroup | null = null;
  readonly #knownSwitches: readonly number[] | null;
  #reportPartitions = 0;
  #windows = 0;
  #events = 0;
  #stopped: Promise<void> | null = null;

  /** @throws RangeError for an option out of range */
  constructor(options: ProcessorOptions) {
    check(options);
    this.#options = options;
    const { knownSwitches } = options;
    this.#knownSwitches = knownSwitches === undefined ? null : [...new Set(knownSwitches)].sort((a, b) => a - b);
    this.#topics = topicsOf(options.prefix ?? DEFAULTS.PREFIX, options.group);
    // Throws at once for invalid options of the sides.
    this.#makeFlowUnit(0);
    this.#makeNetworkUnit(1);
  }

  /**
   * Makes the topics that are missing, and joins the group.
   * @throws ProcessError `ERR_PROCESS_UNREACHABLE` or `ERR_PROCESS_TOPIC`
   */
  async start(): Promise<void> {
    if (this.#link !== null) throw new TypeError('a processor starts once');
    const { group = DEFAULT_GROUP, from = 'earliest' } = this.#options;
    const link = new KafkaLink(this.#options, `int-process-${randomBytes(4).toString('hex')}`);
    this.#link = link;
    try {
      await link.reach();
      await this.#makeTopics(link);
    } catch (error) {
      link.close();
      throw error;
    }
    // Stopped meanwhile.
    if (this.#stopped !== null) return;
    this.#group = new PartitionGroup(link, {
      group,
      topics: [this.#topics.reports, this.#topics.partials],
      stateTopic: this.#topics.state,
      sessionMs: this.#options.sessionMs ?? DEFAULTS.SESSION_MS,
      commitMs: this.#options.commitMs ?? DEFAULTS.COMMIT_MS,
      agreement: this.#agreement(),
      from,
      partitionsOf: (topic, count) => this.#partitionsOf(topic, count),
      workFor: (at) => this.#workFor(at),
      onCounted: (counts) => this.#takeCount(counts.get(this.#topics.reports) ?? 0),
      onCommitted: (findings) => this.#committed(findings),
      onAssigned: (partitions) => this.#options.onAssigned?.(partitions),
      onProblem: (reason) => this.#options.onProblem?.(reason),
    });
    this.#group.start();
  }

  totals(): ProcessorTotals {
    const { partitions, ...reports } = this.#group?.counts(this.#topics.reports) ?? NO_TOPIC_COUNTS;
    const { partitions: own, ...partials } = this.#group?.counts(this.#topics.partials) ?? NO_TOPIC_COUNTS;
    const { late, corrected, untracked, withoutFlow, unknownSwitch } = reports;
    const { repeated, bad, lost, incomplete, commits, restarts, lag } = added<TaskCounts>(reports, partials);
    const behind = this.#progress().map(({ progress }) => progress.behindMs);
    return {
      reports: reports.taken,
      partials: partials.taken,
      repeated,
      bad,
      unknownSwitch,
      lost,
      late,
      networkLate: partials.late,
      corrected,
      untracked,
      withoutFlow,
      incomplete,
      windows: this.#windows,
      events: this.#events,
      commits,
      restarts,
      lag,
      behindMs: Math.round(Math.max(0, ...behind)),
      partitions,
      hasNetworkSide: own.includes(NETWORK_PARTITION),
    };
  }

  /** A short text about a sink that windows wait for, or continue without; `null` if there is none. */
  health(): string | null {
    for (const { partition, progress } of this.#progress()) {
      if (progress.trouble !== null) return `partition ${partition} ${progress.trouble}`;
    }
    return null;
  }

  #progress(): ReturnType<PartitionGroup['progress']> {
    return this.#group?.progress(this.#topics.reports) ?? [];
  }

  /** A digest of the options that must be equal in all processors of the group. */
  #agreement(): string {
    const { format = 'auto', flowSide = {}, networkSide = {}, device } = this.#options;
    const known = this.#knownSwitches;
    const common: unknown[] = [format, this.#times(), this.#latenessMs, this.#writers(), flowSide, networkSide, known];
    if (device !== undefined) common.push(device.units());
    const text = JSON.stringify(common, (_, value: unknown) => {
      if (typeof value === 'function') return String(value);
      // Sort the keys, because equal options may have another order.
      return isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
    });
    return createHash('sha256').update(text).digest('hex').slice(0, 16);
  }

  get #latenessMs(): number {
    return this.#options.latenessMs ?? DEFAULTS.LATENESS_MS;
  }

  #writers(): WriterLimits {
    const { waitMs = DEFAULTS.WAIT_MS, forgetMs = DEFAULTS.FORGET_MS } = this.#options;
    return { waitMs, forgetMs };
  }

  /** Commits everything taken, leaves the group and closes all connections. */
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
    const { reports, windows, immediate, partials } = this.#topics;
    this.#reportPartitions = await link.topic({ topic: reports, partitions: 1, make, replicas });
    await link.topic({ topic: windows, partitions: 1, make, replicas });
    await link.topic({ topic: immediate, partitions: 1, make, replicas });
    await link.topic({ topic: partials, partitions: 1, make: 1, replicas });
    await this.#makeStates();
  }

  /**
   * Makes the state topic's partitions: one for the network side, and one per partition of reports, whose number may
   * have grown.
   */
  async #makeStates(): Promise<void> {
    const { replicas = DEFAULT_REPLICAS } = this.#options;
    const states = 1 + (await this.#countReports());
    await this.#link!.topic({ topic: this.#topics.state, partitions: states, make: states, replicas, compacted: true });
  }

  /** Number of partitions of the reports, including deleted ones with a state, whose open windows must be emitted. */
  async #partitionsOf(topic: string, count: number): Promise<number> {
    if (topic !== this.#topics.reports) return count;
    const states = (await this.#link!.layout(this.#topics.state))?.leaders.length ?? 0;
    return Math.max(count, states - 1);
  }

  async #countReports(): Promise<number> {
    return (await this.#link!.layout(this.#topics.reports))?.leaders.length ?? this.#reportPartitions;
  }

  /** @returns the topic of partials, if the network side's number of flow sides has changed */
  #takeCount(reportPartitions: number): readonly string[] {
    if (reportPartitions === 0 || reportPartitions === this.#reportPartitions) return [];
    this.#reportPartitions = reportPartitions;
    return [this.#topics.partials];
  }

  #workFor({ topic, partition }: TopicPartition): PartitionWork | null {
    if (topic === this.#topics.partials) {
      if (partition !== NETWORK_PARTITION) return null;
      // Partition 0 of the state is that of the network side; the others belong to the reports.
      const makeUnit = (): NetworkUnit => this.#makeNetworkUnit(this.#reportPartitions);
      return { statePartition: 0, makeUnit, inStep: false };
    }
    const prepare = (): Promise<void> => this.#makeStates();
    return { statePartition: 1 + partition, prepare, makeUnit: () => this.#makeFlowUnit(partition), inStep: true };
  }

  #makeFlowUnit(partition: number): FlowUnit {
    const { format = 'auto' } = this.#options;
    const side = { ...this.#options.flowSide, ...this.#times(), latenessMs: this.#latenessMs, side: partition };
    const options = { side, format, writers: this.#writers(), knownSwitches: this.#knownSwitches };
    return new FlowUnit(options, this.#topics, this.#wantsObjects(), this.#options.device);
  }

  #makeNetworkUnit(sides: number): NetworkUnit {
    const given = { ...this.#options.networkSide, ...this.#times(), latenessMs: this.#latenessMs };
    // Partitions give up a silent sink one after another, so the network side waits longer than each of them.
    const waitMs = this.#writers().waitMs + DEFAULTS.NETWORK_WAIT_MS;
    const options = { waitMs, ...given, sides };
    return new NetworkUnit(options, this.#topics, this.#wantsObjects(), this.#options.device);
  }

  #times(): TimeOptions {
    const { windowMs, sliceMs } = this.#options;
    return { ...(windowMs !== undefined && { windowMs }), ...(sliceMs !== undefined && { sliceMs }) };
  }

  #wantsObjects(): boolean {
    const { onWindow, onCorrection, onEvent } = this.#options;
    return onWindow !== undefined || onCorrection !== undefined || onEvent !== undefined;
  }

  #committed(findings: Findings): void {
    this.#windows += findings.windowCount;
    this.#events += findings.eventCount;
    const { onWindow, onCorrection, onEvent } = this.#options;
    if (onWindow !== undefined) findings.windows.forEach(onWindow);
    if (onCorrection !== undefined) findings.corrections.forEach(onCorrection);
    if (onEvent !== undefined) findings.events.forEach(onEvent);
  }
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function check(options: ProcessorOptions): void {
  const { bootstrap, commitMs, sessionMs, partitions, waitMs, forgetMs, group } = options;
  if (bootstrap.length === 0) throw new RangeError('processor: bootstrap must name a broker');
  if (group !== undefined && !/^[a-zA-Z0-9._-]{1,200}$/.test(group)) {
    throw new RangeError('processor: group must be a name of letters, digits, dots, underscores and hyphens');
  }
  const ranges: readonly (readonly [string, number | undefined, number, number])[] = [
    ['commitMs', commitMs, 10, 3_600_000],
    ['sessionMs', sessionMs, 1000, 3_600_000],
    ['partitions', partitions, 1, 10_000],
    ['waitMs', waitMs, 1000, 86_400_000],
    ['forgetMs', forgetMs, 0, 86_400_000],
  ];
  for (const [name, value, least, most] of ranges) {
    if (value === undefined) continue;
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new RangeError(`processor: ${name} must be an integer from ${least} to ${most}, not ${value}`);
    }
  }
}
