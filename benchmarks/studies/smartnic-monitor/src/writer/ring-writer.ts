/** From the rings of the shards to Redis. */
import { setImmediate as breathe } from 'node:timers/promises';
import { COMPACT, EXACT } from '@int/flowcache';
import { SpscRing } from '@int/rings';
import { RedisWriter } from '@int/sink-redis';
import type { WriterSetup, WriterTotals } from './protocol.js';

/** Records moved before the others have their turn. */
const MOST = 4096;

/** Takes records out of a ring's memory; returns how many. */
type Take = (words: Int32Array, at: number, records: number) => number;

export class RingWriter {
  readonly #setup: WriterSetup;
  readonly #sink: RedisWriter | null;
  /** Word of the packet count in an entry. */
  readonly #packetsAt: number;
  #entries = 0;
  #entryPackets = 0;
  #events = 0;
  #stopAt = Number.POSITIVE_INFINITY;
  #deadline: NodeJS.Timeout | undefined;

  constructor(setup: WriterSetup, onProblem: (text: string) => void, onRecovered: (text: string) => void) {
    this.#setup = setup;
    this.#packetsAt = (setup.geometry.layout === 'exact' ? EXACT : COMPACT).PACKETS;
    const { redis, geometry } = setup;
    this.#sink =
      redis === null
        ? null
        : new RedisWriter({
            url: redis.url,
            prefix: redis.prefix,
            geometry,
            events: { form: redis.form },
            entries: { form: redis.form === 'packed' ? 'packed' : 'flows' },
            retry: { firstMs: 50, maxMs: 1000 },
            onProblem: (problem) => onProblem(problem.message),
            onRecovered: ({ lastedMs }) => onRecovered(`Redis is back after ${(lastedMs / 1000).toFixed(1)} s`),
          });
  }

  totals(): WriterTotals {
    return {
      entries: this.#entries,
      entryPackets: this.#entryPackets,
      events: this.#events,
      redis: this.#sink?.totals() ?? null,
    };
  }

  /** Reads all rings until they are closed and empty, then lets Redis have the rest. */
  async run(): Promise<WriterTotals> {
    void this.#sink?.open();
    const { entries, events } = this.#setup;
    await Promise.all([
      ...entries.map((buffer) => this.#read(SpscRing.attach(buffer), 'entries', this.#takeEntries)),
      ...events.map((buffer) => this.#read(SpscRing.attach(buffer), 'events', this.#takeEvents)),
    ]);
    clearTimeout(this.#deadline);
    await this.#sink?.close(this.#patienceLeft());
    return this.totals();
  }

  /**
   * From now on, Redis has so much time. What it has not taken by then is counted as dropped, so that the rings become
   * empty also if it never comes back.
   */
  hurry(patienceMs: number): void {
    this.#stopAt = performance.now() + patienceMs;
    this.#deadline = setTimeout(() => void this.#sink?.close(0), patienceMs);
  }

  #patienceLeft(): number {
    return Math.max(0, this.#stopAt - performance.now());
  }

  /** Sleeps while the ring is empty, and while Redis takes no more: then records stay in the ring. */
  async #read(ring: SpscRing, kind: 'entries' | 'events', take: Take): Promise<void> {
    for (;;) {
      const state = await ring.waitAsync();
      if (state === 'closed') return;
      const records = Math.min(ring.readable(MOST), MOST);
      const taken = records === 0 ? 0 : take(ring.words, ring.readAt, records);
      ring.release(taken);
      if (taken < records) await this.#sink?.ready(kind);
      else await breathe();
    }
  }

  readonly #takeEntries: Take = (words, at, records) => {
    const taken = this.#sink?.writeEntries(words, at, records) ?? records;
    for (let record = 0; record < taken; record++) {
      this.#entryPackets += words[at + record * this.#setup.geometry.bucketStride + this.#packetsAt]! >>> 0;
    }
    this.#entries += taken;
    return taken;
  };

  readonly #takeEvents: Take = (words, at, records) => {
    const taken = this.#sink?.writeEvents(words, at, records) ?? records;
    this.#events += taken;
    return taken;
  };
}
