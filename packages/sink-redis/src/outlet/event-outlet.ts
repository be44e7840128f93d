import { type CacheGeometry, EVENT_WORDS } from '@int/flowcache';
import type { RedisKeys } from '../keys.js';
import { AsciiWriter } from '../record/ascii-writer.js';
import { EventCounts } from '../record/event-counts.js';
import { EVENT_TEXT_BYTES, EventText } from '../record/event-text.js';
import { type Batch, BufferPool } from './outlet.js';
import { packedArguments, packRecords } from './packed.js';
import { RecordOutlet } from './record-outlet.js';

/** Options for storing events. */
export interface EventOptions {
  /**
   * `fields`: an entry of the stream per event, with fields that any tool can read. `packed`: an entry per batch, with
   * its events as records of 64 bytes in one field, which takes the server a hundredth of the time. Default `fields`.
   */
  readonly form?: 'fields' | 'packed';
  /** One stream, or one per switch and one for whole paths. Default `one`, which `packed` requires. */
  readonly streams?: 'one' | 'perSwitch';
  /**
   * Least number of events that a stream keeps; older ones are removed at intervals. `packed` counts full batches. 0
   * keeps all. Default 1,000,000.
   */
  readonly keep?: number;
  /** Whether events are also counted, by switch, metric and kind. Default true. */
  readonly counts?: boolean;
  /** Most switches named in counts and streams; the others are counted together as `other`. Default 4096. */
  readonly maxSwitches?: number;
}

export class EventOutlet extends RecordOutlet {
  readonly #options: Required<EventOptions>;
  readonly #geometry: CacheGeometry;
  readonly #keys: RedisKeys;
  readonly #text: EventText;
  readonly #counts: EventCounts;
  readonly #pool: BufferPool;
  readonly #out = new AsciiWriter(new Uint8Array(0));

  constructor(
    options: Required<EventOptions>,
    geometry: CacheGeometry,
    keys: RedisKeys,
    capacity: number,
    batchRecords: number,
  ) {
    super('events', EVENT_WORDS, capacity, batchRecords);
    this.#options = options;
    this.#geometry = geometry;
    this.#keys = keys;
    this.#text = new EventText(geometry.metrics);
    this.#counts = new EventCounts(geometry.metrics, options.maxSwitches, this.batchRecords);
    const bytes = options.form === 'packed' ? EVENT_WORDS * 4 : EVENT_TEXT_BYTES;
    this.#pool = new BufferPool(this.batchRecords * bytes);
  }

  protected encode(records: number): Batch {
    const buffer = this.#pool.take();
    const { form, keep } = this.#options;
    const isPacked = form === 'packed';
    const payload = isPacked ? packRecords(this.queue, records, buffer) : this.#texts(records, buffer);
    if (isPacked) this.#count(records);
    this.queue.drop(records);
    const counts = encodeCounts(this.#options.counts ? this.#counts.take() : []);
    const { events, counts: key } = this.#keys;
    const { streams } = this.#options;
    const args = isPacked
      ? [
          events,
          String(records),
          String(Math.ceil(keep / this.batchRecords)),
          ...packedArguments(this.#geometry),
          payload,
          key,
          counts,
        ]
      : [events, String(records), String(keep), streams === 'perSwitch' ? '1' : '0', payload, key, counts];
    return {
      outlet: this,
      script: isPacked ? 'packed' : 'events',
      args,
      records,
      bytes: payload.length + counts.length,
      release: () => this.#pool.give(buffer),
    };
  }

  #texts(records: number, buffer: Buffer): Buffer {
    const { words } = this.queue;
    const out = this.#out;
    const isPerSwitch = this.#options.streams === 'perSwitch';
    const isCounting = this.#options.counts;
    out.bytes = buffer;
    out.at = 0;
    for (let k = 0; k < records; k++) {
      const at = this.queue.wordOf(k);
      this.#text.write(out, words, at);
      if (!isPerSwitch && !isCounting) continue;
      const row = this.#counts.rowOf(words, at);
      if (isCounting) this.#counts.add(words, at, row);
      if (!isPerSwitch) continue;
      out.open();
      out.put(this.#counts.name(row));
      out.close();
    }
    return buffer.subarray(0, out.at);
  }

  #count(records: number): void {
    if (!this.#options.counts) return;
    const { words } = this.queue;
    for (let k = 0; k < records; k++) {
      const at = this.queue.wordOf(k);
      this.#counts.add(words, at, this.#counts.rowOf(words, at));
    }
  }
}

/** Encodes names and numbers as texts, each after its length in one byte. */
function encodeCounts(counts: readonly (readonly [field: string, count: number])[]): Buffer {
  const texts = counts.flatMap(([field, count]) => [field, String(count)]);
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + text.length + 1, 0));
  let at = 0;
  for (const text of texts) {
    bytes[at] = text.length;
    at += 1 + bytes.write(text, at + 1, 'latin1');
  }
  return bytes;
}
