/** A queue that is read on the thread of the pipeline. */

import type { Figures, Slot } from './queue-memory.js';
import { Receiver, type ReceiverSetup } from './receiver.js';
import { EMPTY_LOOKS, type Shard } from './shard.js';

export class LocalShard implements Shard {
  readonly queue: number;
  readonly #receiver: Receiver;
  readonly #free: Slot[];
  #isDraining = false;
  #emptyLooks = 0;
  #last: Figures | null = null;

  /** @throws XdpError (rejects) */
  static async open(setup: ReceiverSetup): Promise<LocalShard> {
    return new LocalShard(setup.queue, await Receiver.open(setup, false));
  }

  private constructor(queue: number, receiver: Receiver) {
    this.queue = queue;
    this.#receiver = receiver;
    this.#free = [...receiver.memory.slots];
  }

  get zeroCopy(): boolean {
    return this.#receiver.socket.zeroCopy;
  }

  get usesAccelerator(): boolean {
    return this.#receiver.memory.accelerator !== null;
  }

  get figures(): Figures {
    return this.#last ?? this.#receiver.figures();
  }

  get isDrained(): boolean {
    return this.#last !== null || this.#emptyLooks >= EMPTY_LOOKS;
  }

  take(): Slot | null {
    const slot = this.#last === null ? this.#free.pop() : undefined;
    if (slot === undefined) return null;
    if (this.#receiver.receive(slot) > 0) {
      this.#emptyLooks = 0;
      return slot;
    }
    this.#free.push(slot);
    if (this.#isDraining) this.#emptyLooks++;
    return null;
  }

  give(slot: Slot): void {
    if (this.#last === null) this.#receiver.release(slot);
    this.#free.push(slot);
  }

  check(): void {
    if (this.#last === null) this.#receiver.check();
  }

  drain(): void {
    this.#isDraining = true;
  }

  /** Resolves when there is something to receive, or after the time. @throws XdpError (rejects) if the interface is gone */
  async wait(timeoutMs: number): Promise<void> {
    await this.#receiver.socket.wait(timeoutMs);
  }

  async close(): Promise<void> {
    if (this.#last !== null) return;
    this.#last = this.#receiver.figures();
    this.#receiver.close();
  }
}
