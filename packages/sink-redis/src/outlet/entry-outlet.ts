import type { CacheGeometry } from '@int/flowcache';
import type { RedisKeys } from '../keys.js';
import { AsciiWriter } from '../record/ascii-writer.js';
import { EntryText, entryTextBytes } from '../record/entry-text.js';
import { type Batch, BufferPool } from './outlet.js';
import { packedArguments, packRecords } from './packed.js';
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

export class EntryOutlet extends RecordOutlet {
  readonly #options: Required<EntryOptions>;
  readonly #geometry: CacheGeometry;
  readonly #keys: RedisKeys;
  readonly #text: EntryText;
  readonly #pool: BufferPool;
  readonly #out = new AsciiWriter(new Uint8Array(0));

  constructor(
    options: Required<EntryOptions>,
    geometry: CacheGeometry,
    keys: RedisKeys,
    capacity: number,
    batchRecords: number,
  ) {
    super('entries', geometry.bucketStride, capacity, batchRecords);
    this.#options = options;
    this.#geometry = geometry;
    this.#keys = keys;
    this.#text = new EntryText(geometry);
    const bytes = options.form === 'packed' ? geometry.bucketStride * 4 : entryTextBytes(geometry);
    this.#pool = new BufferPool(this.batchRecords * bytes);
  }

  protected encode(records: number): Batch {
    const buffer = this.#pool.take();
    const { form, keep, keepMs, maxFlows } = this.#options;
    const { metrics } = this.#geometry;
    const isPacked = form === 'packed';
    const payload = isPacked ? packRecords(this.queue, records, buffer) : this.#texts(records, buffer);
    this.queue.drop(records);
    const args = isPacked
      ? [
          this.#keys.entries,
          String(records),
          String(Math.ceil(keep / this.batchRecords)),
          ...packedArguments(this.#geometry),
          payload,
          this.#keys.counts,
          '',
        ]
      : [this.#keys.prefix, String(records), metrics.join(','), String(keepMs), String(maxFlows), payload];
    return {
      outlet: this,
      script: isPacked ? 'packed' : 'entries',
      args,
      records,
      bytes: payload.length,
      release: () => this.#pool.give(buffer),
    };
  }

  #texts(records: number, buffer: Buffer): Buffer {
    const out = this.#out;
    out.bytes = buffer;
    out.at = 0;
    for (let k = 0; k < records; k++) this.#text.write(out, this.queue.words, this.queue.wordOf(k));
    return buffer.subarray(0, out.at);
  }
}
