import { createHash, randomBytes } from 'node:crypto';
import type {
  FlowSideOptions,
  FlowWindow,
  ImmediateEvent,
  NetworkSideOptions,
  NetworkWindow,
  WindowCorrection,
} from '@int/stream';
import { DEFAULT_GROUP, type Topics, topicsOf } from './findings.js';
import { FlowUnit, type ReportFormat } from './flow-unit.js';
import type { KafkaAccess } from './kafka/access.js';
import type { TopicPartition } from './kafka/assignment.js';
import { KafkaLink } from './kafka/link.js';
import { NetworkUnit } from './network-unit.js';
import { PartitionGroup } from './partition-group.js';
import type { PartitionWork } from './partition-task.js';
import type { Findings } from './unit.js';
import type { WriterLimits } from './writers.js';

/**
 * Options of a {@link Processor}. All processors of a group must have the same `format`, lengths of time and options of sides:
 * one with others is not let in while they are there.
 */
export interface ProcessorOptions extends KafkaAccess {
  /**
   * Name of the consumer group; also the beginning of its transactional ids, and part of the names of its topics: letters, digits,
   * `.`, `_` and `-`. Default `int-process`.
   */
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
  /** How long a window is kept after it was given out, to be corrected, in milliseconds of the reports' time. Default 60,000. */
  readonly latenessMs?: number;
  /**
   * How long windows wait for a sink that has written watermarks and is silent. Default 30,000. The time is that in which other
   * sinks were heard, or in which a partition was read to its end and nobody was.
   */
  readonly waitMs?: number;
  /** For so long after that all windows count as not complete, unless the sink is heard again. Default 300,000. */
  readonly forgetMs?: number;
  readonly flowSide?: Omit<FlowSideOptions, 'side' | 'clock' | 'latenessMs' | 'windowMs' | 'sliceMs'>;
  /**
   * `sides` is the number of partitions; `waitMs` is 30,000 more than that above unless given, to outlast a processor that takes
   * over.
   */
  readonly networkSide?: Omit<NetworkSideOptions, 'sides' | 'latenessMs' | 'windowMs' | 'sliceMs'>;
  /** Called with each window after it was committed. */
  readonly onWindow?: (window: FlowWindow | NetworkWindow) => void;
  /** Called with each correction of a window that was given out, after it was committed. */
  readonly onCorrection?: (correction: WindowCorrection) => void;
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
  /** Reports that came too late for their flow's window: they are in no window but as `late`. */
  readonly late: number;
  /** Hop records and reports that came too late for their switch's window, likewise. */
  readonly networkLate: number;
  /** Reports that came after their window was given out, which was given out again with them. */
  readonly corrected: number;
  /** Reports of flows, or of windows, for which there was no room. */
  readonly untracked: number;
  /** Reports without a flow: they are in the windows of switches only. */
  readonly withoutFlow: number;
  /** Windows that were given out as not complete. */
  readonly incomplete: number;
  readonly windows: number;
  readonly events: number;
  /** Transactions. */
  readonly commits: number;
  /** Times a partition was begun again after an error. */
  readonly restarts: number;
  /** Messages that are in this processor's partitions and not committed. */
  readonly lag: number;
  /**
   * How far the time of its slowest partition is behind the furthest that any sink has told there: for so long windows wait,
   * milliseconds.
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
    this.#topics = topicsOf(options.prefix ?? DEFAULTS.PREFIX, options.group);
    // Tells at once what is wrong with the options of the sides.
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
    // Stopped in the meantime.
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
    const reports = this.#group?.counts(this.#topics.reports);
    const partials = this.#group?.counts(this.#topics.partials);
    const sum = (of: 'repeated' | 'bad' | 'lost' | 'commits' | 'restarts' | 'lag' | 'incomplete'): number =>
      (reports?.[of] ?? 0) + (partials?.[of] ?? 0);
    const behind = this.#progress().map(({ progress }) => progress.behindMs);
    return {
      reports: reports?.taken ?? 0,
      partials: partials?.taken ?? 0,
      repeated: sum('repeated'),
      bad: sum('bad'),
      lost: sum('lost'),
      late: reports?.late ?? 0,
      networkLate: partials?.late ?? 0,
      corrected: reports?.corrected ?? 0,
      untracked: reports?.untracked ?? 0,
      withoutFlow: reports?.withoutFlow ?? 0,
      incomplete: sum('incomplete'),
      windows: this.#windows,
      events: this.#events,
      commits: sum('commits'),
      restarts: sum('restarts'),
      lag: sum('lag'),
      behindMs: Math.round(Math.max(0, ...behind)),
      partitions: reports?.partitions ?? [],
      hasNetworkSide: partials?.partitions.includes(NETWORK_PARTITION) ?? false,
    };
  }

  /** What windows wait for, or go on without, in a few words for people; `null`: nothing. */
  health(): string | null {
    for (const { partition, progress } of this.#progress()) {
      if (progress.trouble !== null) return `partition ${partition} ${progress.trouble}`;
    }
    return null;
  }

  #progress(): ReturnType<PartitionGroup['progress']> {
    return this.#group?.progress(this.#topics.reports) ?? [];
  }

  /** What all processors of the group must have in common, as a few digits. */
  #agreement(): string {
    const { format = 'auto', flowSide = {}, networkSide = {} } = this.#options;
    const common = [format, this.#times(), this.#latenessMs, this.#writers(), flowSide, networkSide];
    const text = JSON.stringify(common, (_, value: unknown) => {
      if (typeof value === 'function') return String(value);
      // Equal options may be written in another order.
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
    const { reports, windows, immediate, partials } = this.#topics;
    this.#reportPartitions = await link.topic({ topic: reports, partitions: 1, make, replicas });
    await link.topic({ topic: windows, partitions: 1, make, replicas });
    await link.topic({ topic: immediate, partitions: 1, make, replicas });
    await link.topic({ topic: partials, partitions: 1, make: 1, replicas });
    await this.#makeStates();
  }

  /** A partition of the state for the network, and one for each of the reports, of which there may be more than before. */
  async #makeStates(): Promise<void> {
    const { replicas = DEFAULT_REPLICAS } = this.#options;
    const states = 1 + (await this.#countReports());
    await this.#link!.topic({ topic: this.#topics.state, partitions: states, make: states, replicas, compacted: true });
  }

  /** Partitions of the reports that have a state, too: what is open of one that is gone is to be given out. */
  async #partitionsOf(topic: string, count: number): Promise<number> {
    if (topic !== this.#topics.reports) return count;
    const states = (await this.#link!.layout(this.#topics.state))?.leaders.length ?? 0;
    return Math.max(count, states - 1);
  }

  async #countReports(): Promise<number> {
    return (await this.#link!.layout(this.#topics.reports))?.leaders.length ?? this.#reportPartitions;
  }

  /** @returns the topic of partials, if the network side has to wait for more sides than it knows, or for fewer */
  #takeCount(reportPartitions: number): readonly string[] {
    if (reportPartitions === 0 || reportPartitions === this.#reportPartitions) return [];
    this.#reportPartitions = reportPartitions;
    return [this.#topics.partials];
  }

  #workFor({ topic, partition }: TopicPartition): PartitionWork | null {
    if (topic === this.#topics.partials) {
      if (partition !== NETWORK_PARTITION) return null;
      // Partition 0 of the state is the network's, the others are those of the reports.
      const makeUnit = (): NetworkUnit => this.#makeNetworkUnit(this.#reportPartitions);
      return { statePartition: 0, makeUnit, inStep: false };
    }
    const prepare = (): Promise<void> => this.#makeStates();
    return { statePartition: 1 + partition, prepare, makeUnit: () => this.#makeFlowUnit(partition), inStep: true };
  }

  #makeFlowUnit(partition: number): FlowUnit {
    const { format = 'auto' } = this.#options;
    const side = { ...this.#options.flowSide, ...this.#times(), latenessMs: this.#latenessMs, side: partition };
    return new FlowUnit({ side, format, writers: this.#writers() }, this.#topics, this.#wantsObjects());
  }

  #makeNetworkUnit(sides: number): NetworkUnit {
    const given = { ...this.#options.networkSide, ...this.#times(), latenessMs: this.#latenessMs };
    // Partitions give a sink up one after the other: those that have done so wait for the rest.
    const waitMs = this.#writers().waitMs + DEFAULTS.NETWORK_WAIT_MS;
    const options = { waitMs, ...given, sides };
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
