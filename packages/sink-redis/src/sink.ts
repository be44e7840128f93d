import type { RecordCounts, RecordKind, Sink, SinkTotals } from '@int/collector';
import type { EventBatch } from '@int/detect';
import type { RecordConsumer } from '@int/flowcache';
import type { DeviceProfile, Topology } from '@int/network';
import type { RedisWriterOptions } from './options.js';
import type { DropReason, KindTotals } from './outlet/counters.js';
import { DetectedText } from './record/detected.js';
import { networkValues } from './record/network-values.js';
import { RedisWriter } from './writer.js';

/** Options of a sink: those of its writer, its name, and the kinds of records it takes. */
export interface RedisSinkOptions extends RedisWriterOptions {
  /** Name, unique among the sinks of a collector. Default `redis`. */
  readonly name?: string;
  /**
   * `flows`: entries of the flow cache; `events`: its events, and those of detectors. Reports are never written. Default: both.
   */
  readonly records?: readonly RecordKind[];
  /** Names of switches and ports: beside ids in the events of detectors, and in `values:switches` and `values:ports`. Default: none. */
  readonly names?: Topology;
  /** What the units of the numbers are, which are written to `values:units`. Default: nothing is known. */
  readonly device?: DeviceProfile;
}

const sumOf = (a: KindTotals, b: KindTotals): KindTotals => ({
  ...a,
  offered: a.offered + b.offered,
  delivered: a.delivered + b.delivered,
  pending: a.pending + b.pending,
  dropped: Object.fromEntries(
    Object.entries(a.dropped).map(([reason, count]) => [reason, count + b.dropped[reason as DropReason]]),
  ) as KindTotals['dropped'],
});

/** Converts a writer's counters of one kind into those of a sink. `held`: records that wait outside the writer. */
function countsOf({ offered, delivered, pending, dropped }: KindTotals, held = 0): RecordCounts {
  const reasons = Object.fromEntries(Object.entries(dropped).filter(([, count]) => count > 0));
  return { offered: offered + held, delivered, pending: pending + held, dropped: reasons };
}

/**
 * A sink of a collector: entries that leave the flow cache, and events of detectors, go to Redis by a {@link RedisWriter}, each
 * exactly once.
 *
 * With `whenFull: 'wait'` the pipeline waits while the writer has no room. The sink then holds the records without
 * room: at most those of one batch.
 *
 * @example
 * const redis = new RedisSink({ geometry: geometryOf(cache) });
 * const flows = new FlowStage({ ...cache, events: redis.cacheEvents });
 * const collector = new Collector({ sources, stages: [flows], sinks: [redis] });
 * void redis.open();
 */
export class RedisSink implements Sink {
  readonly name: string;
  /** Reports are not written. */
  readonly records: readonly RecordKind[];
  /**
   * The consumer of the flow cache's events, which do not come from a detector. Pass it to the FlowStage as `events`.
   */
  readonly cacheEvents: RecordConsumer | undefined;
  readonly writeFlows?: NonNullable<Sink['writeFlows']>;
  readonly writeEvents?: NonNullable<Sink['writeEvents']>;
  readonly writer: RedisWriter;
  readonly #text: DetectedText;
  readonly #values: ReturnType<typeof networkValues>;
  #held = 0;
  #heldEvents = 0;
  #carrying: Promise<void> = Promise.resolve();
  #trouble: string | null = null;

  /** @throws TypeError or RangeError that names a wrong option */
  constructor(options: RedisSinkOptions) {
    const { name = 'redis', records = ['flows', 'events'], names, device, ...writer } = options;
    this.name = name;
    this.records = records.filter((kind) => kind !== 'reports');
    this.#text = new DetectedText(names);
    this.#values = networkValues(device, names);
    this.writer = new RedisWriter({
      ...writer,
      onProblem: (problem) => {
        this.#trouble = problem.message;
        options.onProblem?.(problem);
      },
      onRecovered: (outage) => {
        this.#trouble = null;
        options.onRecovered?.(outage);
      },
    });
    this.cacheEvents = records.includes('events') ? this.writer.events : undefined;
    if (records.includes('events')) this.writeEvents = (events) => this.#takeEvents(events);
    if (records.includes('flows')) this.writeFlows = (words, at, count) => this.#take(words, at, count);
  }

  /** Like {@link RedisWriter.open}: it retries by itself and takes records meanwhile. */
  open(): Promise<void> {
    for (const [set, fields] of this.#values.splice(0)) this.writer.values(set, fields);
    return this.writer.open();
  }

  write(): undefined {
    return undefined;
  }

  totals(): SinkTotals {
    const { entries, events, detected } = this.writer.totals();
    return {
      ...(this.writeFlows !== undefined && { flows: countsOf(entries, this.#held) }),
      ...(this.cacheEvents !== undefined && { events: countsOf(sumOf(events, detected), this.#heldEvents) }),
    };
  }

  /** The current problem; `null` if there is none. */
  health(): string | null {
    return this.#trouble;
  }

  /** Writes pending records and disconnects. @param timeoutMs see {@link RedisWriter.close}; default: no limit */
  async close(timeoutMs?: number): Promise<void> {
    // A closed writer takes all records, so held records move into it at once.
    const closed = this.writer.close(timeoutMs ?? Number.POSITIVE_INFINITY);
    await this.#carrying;
    await closed;
  }

  #take(words: Int32Array, at: number, records: number): Promise<void> | undefined {
    const { entries } = this.writer;
    const taken = this.#held > 0 ? 0 : entries.push(words, at, records);
    const left = records - taken;
    if (left === 0) return undefined;
    const from = at + taken * entries.recordWords;
    const copy = words.slice(from, from + left * entries.recordWords);
    this.#held += left;
    this.#carrying = this.#carrying.then(() => this.#carry(copy, left));
    return this.#carrying;
  }

  async #carry(words: Int32Array, records: number): Promise<void> {
    const { entries } = this.writer;
    for (let done = 0; done < records; ) {
      await entries.ready();
      const taken = entries.push(words, done * entries.recordWords, records - done);
      done += taken;
      this.#held -= taken;
    }
  }

  #takeEvents(events: EventBatch): Promise<void> | undefined {
    const records = Array.from({ length: events.count }, (_, row) => this.#text.encode(events, row));
    const taken = this.#heldEvents > 0 ? 0 : this.writer.detected(records);
    const left = records.slice(taken);
    if (left.length === 0) return undefined;
    this.#heldEvents += left.length;
    this.#carrying = this.#carrying.then(() => this.#carryEvents(left));
    return this.#carrying;
  }

  async #carryEvents(records: readonly Buffer[]): Promise<void> {
    for (let done = 0; done < records.length; ) {
      await this.writer.ready('detected');
      const taken = this.writer.detected(records.slice(done));
      done += taken;
      this.#heldEvents -= taken;
    }
  }
}
