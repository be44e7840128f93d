import type { RedisKeys } from '../keys.js';
import type { ResolvedOptions } from '../options.js';
import type { AsciiWriter } from '../record/ascii-writer.js';
import { EntryText, entryTextBytes } from '../record/entry-text.js';
import { RecordOutlet } from './record-outlet.js';

/** Options for storing entries. */
export interface EntryOptions {
  /**
   * `flows`: a hash per flow, into which its entries are merged, and an index. `packed`: a stream with an entry per
   * batch; one field has the batch's records in their memory format, and the reader merges them. Default `flows`.
   */
  readonly form?: 'flows' | 'packed';
  /** `flows`: time after which a flow without new entries expires, in ms. 0: never. Default 0. */
  readonly keepMs?: number;
  /**
   * `flows`: most flows kept; beyond it, those with the oldest last report are removed. 0: no limit. Default 1,000,000.
   */
  readonly maxFlows?: number;
  /** `packed`: least number of flow entries that the stream keeps, in full batches. 0 keeps all. Default 1,000,000. */
  readonly keep?: number;
}

const NO_COUNTS = /* @__PURE__ */ Buffer.alloc(0);

export class EntryOutlet extends RecordOutlet {
  readonly #text: EntryText;
  /** The arguments of the script around the number of records. */
  readonly #prefix: string;
  readonly #rest: readonly string[];

  constructor(options: ResolvedOptions, keys: RedisKeys) {
    const { entries, geometry } = options;
    super('entries', geometry.bucketStride, entryTextBytes(geometry), options, keys);
    this.#text = new EntryText(geometry);
    this.#prefix = keys.prefix;
    this.#rest = [geometry.metrics.join(','), String(entries.keepMs), String(entries.maxFlows)];
  }

  protected packedCounts(): Buffer {
    return NO_COUNTS;
  }

  protected textArguments(records: number, payload: Buffer): (string | Buffer)[] {
    return [this.#prefix, String(records), ...this.#rest, payload];
  }

  protected writeTexts(out: AsciiWriter, records: number): void {
    for (let k = 0; k < records; k++) this.#text.write(out, this.queue.words, this.queue.wordOf(k));
  }
}
