/** What a thread of its own does for one queue: it fills batches, and takes them back when the pipeline is done. */

import type { WorkerSetup } from './protocol.js';
import { COMMAND, CONTROL } from './queue-memory.js';
import type { Receiver } from './receiver.js';
import { EMPTY_LOOKS } from './shard.js';

/** Pause after less than a full batch: more frequent wake-ups cost more than they gain. */
const TICK_MS = 1;
/** Empty looks after which the thread sleeps in the kernel until a frame comes. */
const IDLE_LOOKS = 4;
/** How long it sleeps there at most: the source may want to stop. */
const SLEEP_MS = 50;
/** How often the interface and the counters are looked at. */
const CHECK_MS = 100;

export class WorkerLoop {
  readonly #receiver: Receiver;
  readonly #control: Int32Array;
  readonly #bell: Int32Array;
  /** Batches handed on and given back, as 32-bit integers that run over, and the next slot of each. */
  #filled = 0;
  #freed = 0;
  #toFill = 0;
  #toFree = 0;
  #checkedAt = 0;

  constructor(receiver: Receiver, { bell }: WorkerSetup) {
    this.#receiver = receiver;
    this.#control = receiver.memory.control;
    this.#bell = new Int32Array(bell);
  }

  /** Works until the source stops, then takes what is still there, and closes the socket. */
  run(): void {
    const receiver = this.#receiver;
    try {
      this.#work();
    } finally {
      receiver.memory.writeFigures(receiver.figures());
      receiver.close();
    }
    Atomics.store(this.#control, CONTROL.DONE, 1);
    this.#ring();
  }

  #work(): void {
    const control = this.#control;
    const { slots } = this.#receiver.memory;
    // The source makes its batches over this memory first, which empties them.
    while (Atomics.load(control, CONTROL.COMMAND) === COMMAND.WAIT)
      Atomics.wait(control, CONTROL.COMMAND, COMMAND.WAIT);
    let empty = 0;
    for (;;) {
      this.#takeBack();
      this.#check();
      if (((this.#filled - this.#freed) | 0) === slots.length) {
        // All are under way: the kernel holds what comes until the pipeline is done with one.
        Atomics.wait(control, CONTROL.FREED, this.#freed, CHECK_MS);
        continue;
      }
      const slot = slots[this.#toFill]!;
      const count = this.#receiver.receive(slot);
      if (count > 0) {
        empty = 0;
        this.#toFill = (this.#toFill + 1) % slots.length;
        this.#filled = (this.#filled + 1) | 0;
        Atomics.store(control, CONTROL.FILLED, this.#filled);
        this.#ring();
        if (count === slot.frames.capacity) continue;
      } else empty++;
      const command = Atomics.load(control, CONTROL.COMMAND);
      if (command === COMMAND.DRAIN && empty >= EMPTY_LOOKS) break;
      // Frames that the pipeline gives back are to go to the kernel soon.
      if (empty < IDLE_LOOKS || this.#freed !== this.#filled) Atomics.wait(control, CONTROL.DONE, 0, TICK_MS);
      else this.#receiver.socket.waitSync(SLEEP_MS);
    }
  }

  /** Gives the kernel the frames of batches that have come back, which they do in the order they went. */
  #takeBack(): void {
    const { slots } = this.#receiver.memory;
    const freed = Atomics.load(this.#control, CONTROL.FREED);
    while (this.#freed !== freed) {
      this.#receiver.release(slots[this.#toFree]!);
      this.#toFree = (this.#toFree + 1) % slots.length;
      this.#freed = (this.#freed + 1) | 0;
    }
  }

  #check(): void {
    const now = performance.now();
    if (now - this.#checkedAt < CHECK_MS) return;
    this.#checkedAt = now;
    this.#receiver.memory.writeFigures(this.#receiver.figures());
    this.#receiver.check();
  }

  #ring(): void {
    Atomics.add(this.#bell, 0, 1);
    Atomics.notify(this.#bell, 0);
  }
}
