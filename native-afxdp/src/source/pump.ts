/** Carries batches from the queues to the pipeline, on the pipeline's thread, without keeping it from other things. */
import type { Push } from '@int/collector';
import { frameTimeMs, WallClock } from '@int/collector/internals';
import type { Slot } from './queue-memory.js';
import type { Shard } from './shard.js';

/** Batches of one queue that are handed on before anything else has its turn. */
const BATCHES_PER_TURN = 4;
/** Pause after less than a full batch: more frequent wake-ups cost more than they gain. */
const TICK_MS = 1;
/** Empty polls after which the pump waits for a frame. */
const IDLE_LOOKS = 4;
/** From the moment at which a thread gives frames their time to that at which they can be taken it takes no longer. */
const HAND_OVER_MS = 500;

export class Pump {
  readonly #shards: readonly Shard[];
  readonly #push: Push;
  readonly #wait: () => Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  /** Batches that the pipeline is busy with. */
  readonly #pending = new Set<Promise<void>>();
  readonly #failed = new Set<Shard>();
  readonly #clock = new WallClock();
  /** Up to when all of each queue was taken, milliseconds. */
  readonly #takenMs: number[];
  #emptyLooks = 0;
  #onDrained: (() => void) | null = null;
  #isDone = false;
  /** Counts the waits: an outdated one does nothing. */
  #round = 0;

  /**
   * @param wait resolves when there is something to take, or after a while
   * @param onFailure called when a queue can be read no more, or nothing will come any more
   */
  constructor(shards: readonly Shard[], push: Push, wait: () => Promise<void>, onFailure: (error: unknown) => void) {
    this.#shards = shards;
    this.#takenMs = shards.map(() => Number.NEGATIVE_INFINITY);
    this.#push = push;
    this.#wait = wait;
    this.#onFailure = onFailure;
  }

  start(): void {
    this.#next(false);
  }

  /**
   * No frame that is handed on from now on, by this or one that comes after it, has an earlier time, milliseconds; `null`: that
   * is not known yet.
   */
  lowTimeMs(): number | null {
    const earliest = (this.#isDone ? this.#clock.now() : Math.min(...this.#takenMs)) - HAND_OVER_MS;
    return Number.isFinite(earliest) ? earliest : null;
  }

  /** Follows the system's clock. Call it about once a second. */
  check(): void {
    this.#clock.adjust();
  }

  /** Takes what the queues still hold; resolves when the pipeline is done with all of it. */
  drain(): Promise<void> {
    for (const shard of this.#shards) shard.drain();
    this.#emptyLooks = 0;
    return new Promise((resolve) => {
      this.#onDrained = resolve;
      this.#next(true);
    });
  }

  #next(isSoon: boolean): void {
    const round = ++this.#round;
    const turn = (): void => {
      if (round === this.#round) this.#turn();
    };
    if (isSoon) setImmediate(turn);
    else if (this.#emptyLooks < IDLE_LOOKS || this.#pending.size > 0 || this.#onDrained !== null)
      setTimeout(turn, TICK_MS);
    else {
      this.#wait().then(turn, (error: unknown) => {
        // What has been received before is as good as ever.
        this.#onFailure(error);
        turn();
      });
    }
  }

  #turn(): void {
    if (this.#isDone) return;
    let frames = 0;
    let isFull = false;
    const now = this.#clock.now();
    for (const [index, shard] of this.#shards.entries()) {
      // Nothing comes of it any more.
      if (this.#failed.has(shard)) {
        this.#takenMs[index] = now;
        continue;
      }
      try {
        for (let batches = 0; batches < BATCHES_PER_TURN; batches++) {
          const slot = shard.take();
          if (slot === null) {
            this.#takenMs[index] = now;
            break;
          }
          const { count } = slot;
          if (count > 0) this.#takenMs[index] = frameTimeMs(slot.batch, count - 1);
          frames += count;
          isFull ||= count === slot.frames.capacity || batches === BATCHES_PER_TURN - 1;
          this.#hand(shard, slot);
        }
      } catch (error) {
        this.#fail(shard, error);
      }
    }
    this.#emptyLooks = frames > 0 ? 0 : this.#emptyLooks + 1;
    if (this.#onDrained !== null && this.#pending.size === 0 && this.#shards.every((shard) => this.#isDrained(shard))) {
      this.#isDone = true;
      this.#onDrained();
      return;
    }
    this.#next(isFull);
  }

  #isDrained(shard: Shard): boolean {
    return this.#failed.has(shard) || shard.isDrained;
  }

  #hand(shard: Shard, slot: Slot): void {
    let busy: Promise<void> | undefined;
    try {
      busy = this.#pushAll(slot);
    } catch (error) {
      shard.give(slot);
      throw error;
    }
    if (busy === undefined) {
      shard.give(slot);
      return;
    }
    const done: Promise<void> = busy
      .catch(() => {})
      .then(() => {
        this.#pending.delete(done);
        if (!this.#failed.has(shard)) shard.give(slot);
      });
    this.#pending.add(done);
  }

  #pushAll(slot: Slot): Promise<void> | undefined {
    const { batch, count } = slot;
    const decoded = batch.frames > 0 ? this.#push(batch) : undefined;
    if (batch.frames === count) return decoded;
    // The batch had no room for these: the pipeline decodes them.
    const rest = this.#push(slot.from(batch.frames));
    if (decoded === undefined || rest === undefined) return decoded ?? rest;
    return Promise.all([decoded, rest]).then(() => undefined);
  }

  #fail(shard: Shard, error: unknown): void {
    if (this.#failed.has(shard)) return;
    this.#failed.add(shard);
    this.#onFailure(error);
  }
}
