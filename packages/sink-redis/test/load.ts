import { EVENT_KIND, EVENT_WORD, EVENT_WORDS, EXACT, geometryOf, META, REASON } from '@int/flowcache';
import { type RedisWriter, readStoredFlow } from '@int/sink-redis';
import { expect } from 'vitest';
import type { Client } from './redis-server.js';
import { hash, stream } from './stored.js';

export const geometry = geometryOf({ rows: 1, hops: 1, metrics: ['hopLatency'] });

/** Flows of the load. */
const FLOWS = 7;
const MAX = 4096;

/**
 * Numbered records: event k has the value k; entry k is of flow k mod 7 and has 1 packet, and a hop latency of k. So what
 * is missing or there twice shows in the stream, in the counts, and in the sums.
 */
export class Load {
  readonly #events = new Int32Array(EVENT_WORDS * MAX);
  readonly #entries = new Int32Array(geometry.bucketStride * MAX);
  events = 0;
  entries = 0;

  /** Offers events. @returns how many the sink took */
  pushEvents(sink: RedisWriter, count: number): number {
    const words = this.#events;
    for (let k = 0; k < count; k++) {
      const at = k * EVENT_WORDS;
      words.fill(0, at, at + EVENT_WORDS);
      words[at + EVENT_WORD.KIND] = EVENT_KIND.THRESHOLD | (6 << EVENT_KIND.PROTOCOL_SHIFT);
      words[at + EVENT_WORD.NODE] = (this.events + k) % 3;
      words[at + EVENT_WORD.VALUE] = this.events + k;
    }
    const taken = sink.writeEvents(words, 0, count);
    this.events += taken;
    return taken;
  }

  /** Offers entries. @returns how many the sink took */
  pushEntries(sink: RedisWriter, count: number): number {
    const words = this.#entries;
    for (let k = 0; k < count; k++) {
      const at = k * geometry.bucketStride;
      const number = this.entries + k;
      words.fill(0, at, at + geometry.bucketStride);
      words[at + EXACT.SOURCE] = number % FLOWS;
      words[at + EXACT.META] = 6 | (1 << META.SEEN_SHIFT) | (REASON.EVICTED << META.REASON_SHIFT);
      words[at + EXACT.PACKETS] = 1;
      words.set([1, number, 1, number, 0], at + geometry.hopsAt);
    }
    const taken = sink.writeEntries(words, 0, count);
    this.entries += taken;
    return taken;
  }

  /** Checks that Redis holds every event and entry taken, once. */
  async expectStored(client: Client, sink: RedisWriter): Promise<void> {
    const values = (await stream(client, sink.keys.events)).map(({ value }) => Number(value));
    const wrong = values.findIndex((value, k) => value !== k);
    // What is there twice, and around what, says which batch it was.
    const found = `first wrong at ${wrong}: ${values.slice(Math.max(0, wrong - 3), wrong + 60).join()}; ${JSON.stringify(sink.totals())}`;
    expect(values.length, found).toBe(this.events);
    expect(wrong, found).toBe(-1);
    const counts = Object.values(await hash(client, sink.keys.counts));
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(this.events);
    for (let flow = 0; flow < Math.min(FLOWS, this.entries); flow++) {
      const key = sink.keys.flow(`0.0.0.${flow}:0-0.0.0.0:0/6`);
      const numbers = Array.from({ length: Math.ceil((this.entries - flow) / FLOWS) }, (_, k) => flow + k * FLOWS);
      const { entries, hops, packets } = readStoredFlow(key, await hash(client, key));
      const sum = BigInt(numbers.reduce((total, number) => total + number, 0));
      const wanted = [BigInt(numbers.length), BigInt(numbers.length), sum];
      expect([entries, packets, hops[0]?.metrics.hopLatency?.sum]).toEqual(wanted);
    }
  }
}
