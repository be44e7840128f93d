import type { RedisKeys } from '../keys.js';
import type { ResolvedOptions } from '../options.js';
import { AsciiWriter } from '../record/ascii-writer.js';
import { RecordQueue } from '../record/queue.js';
import { type Batch, Outlet } from './outlet.js';

/** An outlet whose records are words and wait in a ring of fixed size. They are sent as texts, or packed as they are. */
export abstract class RecordOutlet extends Outlet {
  protected readonly queue: RecordQueue;
  readonly #isPacked: boolean;
  readonly #options: ResolvedOptions;
  readonly #keys: RedisKeys;
  readonly #name: 'events' | 'entries';
  readonly #free: Buffer[] = [];
  readonly #bufferBytes: number;
  readonly #out = new AsciiWriter(new Uint8Array(0));

  /** @param textBytes most bytes of a record as text */
  constructor(
    name: 'events' | 'entries',
    recordWords: number,
    textBytes: number,
    options: ResolvedOptions,
    keys: RedisKeys,
  ) {
    super(name, options.maxPending[name], options.batch[name]);
    this.queue = new RecordQueue(recordWords, this.capacity);
    this.#isPacked = options[name].form === 'packed';
    this.#options = options;
    this.#keys = keys;
    this.#name = name;
    this.#bufferBytes = this.batchRecords * (this.#isPacked ? recordWords * 4 : textBytes);
  }

  get recordWords(): number {
    return this.queue.recordWords;
  }

  /** Copies as many records as fit. @returns their number */
  take(words: Int32Array | Uint32Array, at: number, records: number): number {
    const taken = Math.min(records, this.room);
    if (taken > 0) {
      this.queue.put(words, at, taken);
      this.counters.waiting += taken;
      this.counters.accepted += taken;
    }
    return taken;
  }

  override clear(): void {
    super.clear();
    this.queue.drop(this.queue.count);
  }

  /** Writes the oldest records as texts. */
  protected abstract writeTexts(out: AsciiWriter, records: number): void;

  /** What the oldest records, which are sent packed, add to the counts, as the scripts take it. */
  protected abstract packedCounts(records: number): Buffer;

  /** Arguments of the script that takes texts. */
  protected abstract textArguments(records: number, payload: Buffer): (string | Buffer)[];

  protected encode(records: number): Batch {
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#bufferBytes);
    const args = this.#isPacked ? this.#packedArguments(records, buffer) : this.#textArguments(records, buffer);
    this.queue.drop(records);
    return {
      outlet: this,
      script: this.#isPacked ? 'packed' : this.#name,
      args,
      records,
      bytes: args.reduce((sum, arg) => sum + (typeof arg === 'string' ? 0 : arg.length), 0),
      release: () => this.#free.push(buffer),
    };
  }

  #packedArguments(records: number, buffer: Buffer): (string | Buffer)[] {
    const { layout, hops, metrics } = this.#options.geometry;
    const batches = Math.ceil(this.#options[this.#name].keep / this.batchRecords);
    const shape = [String(records), String(batches), layout, String(hops), metrics.join(',')];
    const payload = this.#pack(records, buffer);
    return [this.#keys[this.#name], ...shape, payload, this.#keys.counts, this.packedCounts(records)];
  }

  #textArguments(records: number, buffer: Buffer): (string | Buffer)[] {
    const out = this.#out;
    out.bytes = buffer;
    out.at = 0;
    this.writeTexts(out, records);
    return this.textArguments(records, buffer.subarray(0, out.at));
  }

  /** Copies records into bytes: words of 32 bits, little-endian. */
  #pack(records: number, into: Buffer): Buffer {
    const { recordWords, words } = this.queue;
    const view = new DataView(into.buffer, into.byteOffset, into.byteLength);
    let to = 0;
    for (let k = 0; k < records; k++) {
      const from = this.queue.wordOf(k);
      for (let word = 0; word < recordWords; word++, to += 4) view.setInt32(to, words[from + word]!, true);
    }
    return into.subarray(0, records * recordWords * 4);
  }
}
