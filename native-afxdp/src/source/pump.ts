/** Carries batches from the queues to the pipeline, on the pipeline's thread, without keeping it from other things. */
import type { Push } from '@int/collector';
import type { Lane } from './lane.js';
import type { Slot } from './queue-memory.js';

/** Batches of one queue that are handed on before anything else has its turn. */
const BATCHES_PER_TURN = 4;
/** Pause between two looks when there was less than a batch: more wake-ups cost more than they bring. */
const TICK_MS = 1;
/** Empty looks after which nothing is looked at until a frame comes. */
const IDLE_LOOKS = 4;

export class Pump {
  readonly #lanes: readonly Lane[];
  readonly #push: Push;
  readonly #wait: () => Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  /** Batches that the pipeline is busy with. */
  readonly #pending = new Set<Promise<void>>();
  readonly #failed = new Set<Lane>();
  #emptyLooks = 0;
  #onDrained: (() => void) | null = null;
  #isDone = false;
  /** Counts the waits: one that has been overtaken does nothing. */
  #round = 0;

  /**
   * @param wait resolves when there is something to take, or after a while
   * @param onFailure called once for each queue that can be read no more
   */
  constructor(lanes: readonly Lane[], push: Push, wait: () => Promise<void>, onFailure: (error: unknown) => void) {
    this.#lanes = lanes;
    this.#push = push;
    this.#wait = wait;
    this.#onFailure = onFailure;
  }

  start(): void {
    this.#next(false);
  }

  /** Takes what the queues still hold; resolves when the pipeline is done with all of it. */
  drain(): Promise<void> {
    for (const lane of this.#lanes) lane.drain();
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
        // There is one queue, if its wait can fail.
        this.#fail(this.#lanes[0]!, error);
        turn();
      });
    }
  }

  #turn(): void {
    if (this.#isDone) return;
    let frames = 0;
    let isFull = false;
    for (const lane of this.#lanes) {
      if (this.#failed.has(lane)) continue;
      try {
        for (let batches = 0; batches < BATCHES_PER_TURN; batches++) {
          const slot = lane.take();
          if (slot === null) break;
          const { count } = slot;
          frames += count;
          isFull ||= count === slot.frames.capacity || batches === BATCHES_PER_TURN - 1;
          this.#hand(lane, slot);
        }
      } catch (error) {
        this.#fail(lane, error);
      }
    }
    this.#emptyLooks = frames > 0 ? 0 : this.#emptyLooks + 1;
    if (this.#onDrained !== null && this.#pending.size === 0 && this.#lanes.every((lane) => this.#isDrained(lane))) {
      this.#isDone = true;
      this.#onDrained();
      return;
    }
    this.#next(isFull);
  }

  #isDrained(lane: Lane): boolean {
    return this.#failed.has(lane) || lane.isDrained;
  }

  #hand(lane: Lane, slot: Slot): void {
    let busy: Promise<void> | undefined;
    try {
      busy = this.#push(slot);
    } catch (error) {
      lane.give(slot);
      throw error;
    }
    if (busy === undefined) {
      lane.give(slot);
      return;
    }
    const done: Promise<void> = busy
      .catch(() => {})
      .then(() => {
        this.#pending.delete(done);
        if (!this.#failed.has(lane)) lane.give(slot);
      });
    this.#pending.add(done);
  }

  #fail(lane: Lane, error: unknown): void {
    if (this.#failed.has(lane)) return;
    this.#failed.add(lane);
    this.#onFailure(error);
  }
}
