import type { ScriptName } from '../client/scripts.js';
import { type Batch, type KindName, Outlet } from './outlet.js';

/** An outlet whose records are encoded when they are taken, and differ in length. */
export class TextOutlet extends Outlet {
  readonly #script: ScriptName;
  readonly #argumentsOf: (records: number, payload: Buffer) => (string | Buffer)[];
  #queue: Buffer[] = [];

  /** @param argumentsOf of the script, for encoded records one behind the other */
  constructor(
    name: KindName & ScriptName,
    argumentsOf: (records: number, payload: Buffer) => (string | Buffer)[],
    capacity: number,
    batchRecords: number,
  ) {
    super(name, capacity, batchRecords);
    this.#script = name;
    this.#argumentsOf = argumentsOf;
  }

  /** Adds an encoded record. The caller has checked that there is room. */
  put(record: Buffer): void {
    this.#queue.push(record);
    this.counters.waiting += 1;
    this.counters.accepted += 1;
  }

  protected encode(records: number): Batch {
    const payload = Buffer.concat(this.#queue.slice(0, records));
    this.#queue = this.#queue.slice(records);
    return {
      outlet: this,
      script: this.#script,
      args: this.#argumentsOf(records, payload),
      records,
      bytes: payload.length,
      release: () => undefined,
    };
  }

  override clear(): void {
    super.clear();
    this.#queue = [];
  }
}
