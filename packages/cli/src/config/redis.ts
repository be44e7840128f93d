/** Redis as a sink: flow entries, and events of the flow cache. */
import type { RecordCounts, Sink, SinkTotals } from '@int/collector';
import type { CacheGeometry, RecordConsumer } from '@int/flowcache';
import type { KindTotals, RedisSink } from '@int/sink-redis';
import { optionalPackage } from '../input/optional-package.js';
import type { RedisSinkConfig } from './config.js';
import { millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { made, reporting, retryOf, type Tell } from './sink-parts.js';

/** Counters of one kind of records. `held`: records that wait outside the sink. */
function countsOf({ offered, delivered: written, pending, dropped }: KindTotals, held = 0): RecordCounts {
  const reasons = Object.fromEntries(Object.entries(dropped).filter(([, count]) => count > 0));
  return { offered: offered + held, delivered: written, pending: pending + held, dropped: reasons };
}

/**
 * Passes entries that leave the flow cache to a RedisSink. If the pipeline waits for a full sink, entries without room
 * are held here: at most those of one batch.
 */
export class RedisOutlet implements Sink {
  readonly name: string;
  /** The consumer of the flow cache's events, for the FlowStage; they do not come from a detector. */
  readonly cacheEvents: RecordConsumer | null;
  readonly writeFlows?: NonNullable<Sink['writeFlows']>;
  readonly #redis: RedisSink;
  #held = 0;
  #carrying: Promise<void> = Promise.resolve();
  #trouble: string | null = null;

  constructor(redis: RedisSink, { name, records = ['flows', 'events'] }: RedisSinkConfig & { readonly name: string }) {
    this.name = name;
    this.#redis = redis;
    this.cacheEvents = records.includes('events') ? redis.events : null;
    if (records.includes('flows')) this.writeFlows = (words, at, count) => this.#take(words, at, count);
  }

  /** Reports are not written. */
  readonly records = ['flows'] as const;

  write(): undefined {
    return undefined;
  }

  totals(): SinkTotals {
    const { entries, events } = this.#redis.totals();
    return {
      ...(this.writeFlows !== undefined && { flows: countsOf(entries, this.#held) }),
      ...(this.cacheEvents !== null && { events: countsOf(events) }),
    };
  }

  health(): string | null {
    return this.#trouble;
  }

  /** The current problem; `null` if there is none. */
  set trouble(message: string | null) {
    this.#trouble = message;
  }

  async close(timeoutMs?: number): Promise<void> {
    // A closed sink takes all records, so held records move into it at once.
    const closed = this.#redis.close(timeoutMs ?? Number.POSITIVE_INFINITY);
    await this.#carrying;
    await closed;
  }

  #take(words: Int32Array, at: number, records: number): Promise<void> | undefined {
    const { entries } = this.#redis;
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
    const { entries } = this.#redis;
    for (let done = 0; done < records; ) {
      await entries.ready();
      const taken = entries.push(words, done * entries.recordWords, records - done);
      done += taken;
      this.#held -= taken;
    }
  }
}

/** @throws CliError (rejects) */
export async function redisSink(
  read: ReadConfig,
  index: number,
  name: string,
  geometry: CacheGeometry,
  tell: Tell,
): Promise<RedisOutlet> {
  const config = read.config.sinks![index]!.redis!;
  const { RedisSink } = await optionalPackage('@int/sink-redis', 'a redis sink', import('@int/sink-redis'));
  const { url, username, password, database, prefix, writer, keep, maxFlows, whenFull, retry } = config;
  const { onProblem, onRecovered } = reporting(name, tell);
  let outlet: RedisOutlet | null = null as RedisOutlet | null;
  const trouble = (message: string | null): void => {
    if (outlet !== null) outlet.trouble = message;
  };
  const redis = made(
    read,
    ['sinks', index, 'redis'],
    () =>
      new RedisSink({
        geometry,
        onProblem: (problem) => {
          trouble(problem.message);
          onProblem(problem);
        },
        onRecovered: (outage) => {
          trouble(null);
          onRecovered(outage);
        },
        ...(url !== undefined && { url }),
        ...(username !== undefined && { username }),
        ...(password !== undefined && { password }),
        ...(database !== undefined && { database }),
        ...(prefix !== undefined && { prefix }),
        ...(writer !== undefined && { writer }),
        ...(whenFull !== undefined && { whenFull }),
        ...(retry !== undefined && { retry: retryOf(retry) }),
        entries: {
          ...(keep !== undefined && { keepMs: millisecondsOf(keep) }),
          ...(maxFlows !== undefined && { maxFlows }),
        },
      }),
  );
  outlet = new RedisOutlet(redis, { ...config, name });
  // The sink retries by itself and takes records meanwhile.
  void redis.open();
  return outlet;
}
