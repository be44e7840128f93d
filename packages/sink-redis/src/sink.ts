import type { RecordCounts, RecordKind, Sink, SinkTotals } from '@int/collector';
import type { RecordConsumer } from '@int/flowcache';
import type { RedisWriterOptions } from './options.js';
import type { KindTotals } from './outlet/counters.js';
import { RedisWriter } from './writer.js';

/** Options of a sink: those of its writer, its name, and the kinds of records it takes. */
export interface RedisSinkOptions extends RedisWriterOptions {
  /** Name, unique among the sinks of a collector. Default `redis`. */
  readonly name?: string;
  /** `flows`: entries of the flow cache; `events`: its events. Reports are never written. Default: both. */
  readonly records?: readonly RecordKind[];
}

/** Converts a writer's counters of one kind into those of a sink. `held`: records that wait outside the writer. */
function countsOf({ offered, delivered, pending, dropped }: KindTotals, held = 0): RecordCounts {
  const reasons = Object.fromEntries(Object.entries(dropped).filter(([, count]) => count > 0));
  return { offered: offered + held, delivered, pending: pending + held, dropped: reasons };
}

/**
 * A sink of a collector: entries that leave the flow cache go to Redis by a {@link RedisWriter}, each exactly once.
 *
 * With `whenFull: 'wait'` the pipeline waits while the writer has no room. The sink then holds the entries without
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
  /** Reports and the events of detectors are not written. */
  readonly records = ['flows'] as const;
  /**
   * The consumer of the flow cache's events, which do not come from a detector. Pass it to the FlowStage as `events`.
   */
  readonly cacheEvents: RecordConsumer | undefined;
  readonly writeFlows?: NonNullable<Sink['writeFlows']>;
  readonly writer: RedisWriter;
  #held = 0;
  #carrying: Promise<void> = Promise.resolve();
  #trouble: string | null = null;

  /** @throws TypeError or RangeError that names a wrong option */
  constructor(options: RedisSinkOptions) {
    const { name = 'redis', records = ['flows', 'events'], ...writer } = options;
    this.name = name;
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
    if (records.includes('flows')) this.writeFlows = (words, at, count) => this.#take(words, at, count);
  }

  /** Like {@link RedisWriter.open}: it retries by itself and takes records meanwhile. */
  open(): Promise<void> {
    return this.writer.open();
  }

  write(): undefined {
    return undefined;
  }

  totals(): SinkTotals {
    const { entries, events } = this.writer.totals();
    return {
      ...(this.writeFlows !== undefined && { flows: countsOf(entries, this.#held) }),
      ...(this.cacheEvents !== undefined && { events: countsOf(events) }),
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
}
