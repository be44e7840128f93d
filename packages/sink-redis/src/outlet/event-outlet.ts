import { EVENT_WORDS } from '@int/flowcache';
import type { RedisKeys } from '../keys.js';
import type { ResolvedOptions } from '../options.js';
import type { AsciiWriter } from '../record/ascii-writer.js';
import { EventCounts } from '../record/event-counts.js';
import { EVENT_TEXT_BYTES, EventText } from '../record/event-text.js';
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
  readonly #keys: RedisKeys;
  readonly #text: EventText;
  readonly #counts: EventCounts;

  constructor(options: ResolvedOptions, keys: RedisKeys) {
    const { events, geometry } = options;
    super('events', EVENT_WORDS, EVENT_TEXT_BYTES, options, keys);
    this.#options = events;
    this.#keys = keys;
    this.#text = new EventText(geometry.metrics);
    this.#counts = new EventCounts(geometry.metrics, events.maxSwitches, this.batchRecords);
  }

  protected textArguments(records: number, payload: Buffer): (string | Buffer)[] {
    const { keep, streams } = this.#options;
    const isPerSwitch = streams === 'perSwitch' ? '1' : '0';
    const { events, counts } = this.#keys;
    return [events, String(records), String(keep), isPerSwitch, payload, counts, encodeCounts(this.#counts.take())];
  }

  protected writeTexts(out: AsciiWriter, records: number): void {
    const { words } = this.queue;
    const isPerSwitch = this.#options.streams === 'perSwitch';
    const isCounting = this.#options.counts;
    for (let k = 0; k < records; k++) {
      const at = this.queue.wordOf(k);
      this.#text.write(out, words, at);
      if (!isPerSwitch && !isCounting) continue;
      const row = this.#counts.rowOf(words, at);
      if (isCounting) this.#counts.add(words, at, row);
      if (isPerSwitch) out.text(this.#counts.name(row));
    }
  }

  protected packedCounts(records: number): Buffer {
    const { words } = this.queue;
    for (let k = 0; k < records && this.#options.counts; k++) {
      const at = this.queue.wordOf(k);
      this.#counts.add(words, at, this.#counts.rowOf(words, at));
    }
    return encodeCounts(this.#counts.take());
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
