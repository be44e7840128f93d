import { setTimeout as sleep } from 'node:timers/promises';
import type { ChunkTaker } from './capture-loop.js';
import type { FrameChunk } from './frame-chunk.js';
import { Pacer } from './pacer.js';
import type { Schedule } from './schedule.js';
import type { SkipReason } from './skip-reason.js';
import type { Target } from './target.js';

/** Time without a turn of the event loop, at most: timers and signals wait for one. */
const TURN_MS = 5;
/** Shorter waits are turns of the event loop: timers are no finer than a millisecond. */
const SHORT_WAIT_MS = 0.3;
/** Longer waits are cut, since the system's timers do not take them. */
const LONG_WAIT_MS = 60_000;

/** Sends what it is given when it is due. */
export class Player implements ChunkTaker {
  readonly skipped = new Map<SkipReason, number>();
  readonly #target: Target;
  readonly #schedule: Schedule | null;
  readonly #signal: AbortSignal;
  readonly #pacer: Pacer;
  /** Schedule that is released and not used up. */
  #releasedMs = -1;
  #handedOver = 0;
  #inLoop = 0;
  #lastMs = 0;
  #loops = 0;
  #turnAt = 0;
  #startedAt = Number.NaN;

  /**
   * @param schedule null: as fast as the target takes frames
   * @param signal when aborted, no further frame is sent
   */
  constructor(target: Target, schedule: Schedule | null, signal: AbortSignal) {
    this.#target = target;
    this.#schedule = schedule;
    this.#signal = signal;
    this.#pacer = new Pacer(schedule === null ? {} : { slackMs: schedule.slackMs });
  }

  /** Loops that came to their end. */
  get loops(): number {
    return this.#loops;
  }

  /** Frames that the target was given. */
  get handedOver(): number {
    return this.#handedOver;
  }

  /** When the first frame was given to the target, by `performance.now`; NaN before. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** By how much it is late for good, because the target did not keep up. */
  get lostMs(): number {
    return this.#pacer.lostMs;
  }

  async take(chunk: FrameChunk): Promise<boolean> {
    for (let from = 0; from < chunk.count; ) {
      const to = this.#ready(chunk, from);
      if (to === from) await this.#wait(chunk, from);
      else {
        if (Number.isNaN(this.#startedAt)) this.#startedAt = performance.now();
        this.#handedOver += to - from;
        this.#inLoop += to - from;
        this.#lastMs = chunk.timesMs[to - 1]!;
        await this.#target.send(chunk, from, to);
        from = to;
        if (performance.now() - this.#turnAt > TURN_MS) await this.#turn();
      }
      if (this.#signal.aborted) return false;
    }
    for (const [reason, count] of chunk.skipped) this.skipped.set(reason, (this.skipped.get(reason) ?? 0) + count);
    return true;
  }

  /** @returns false if there was nothing to send, which a further loop would not change */
  endLoop(): boolean {
    this.#loops++;
    this.#schedule?.endLoop(this.#inLoop, this.#lastMs);
    const hasSent = this.#inLoop > 0;
    this.#inLoop = 0;
    this.#lastMs = 0;
    return hasSent;
  }

  /** Up to which row frames may leave now. */
  #ready(chunk: FrameChunk, from: number): number {
    const end = Math.min(chunk.count, from + this.#target.most);
    const schedule = this.#schedule;
    if (schedule === null) return end;
    const due = schedule.dueMs(chunk, from, this.#handedOver);
    // What was released is sent before more is asked for: it cannot pile up to a burst.
    if (due > this.#releasedMs) this.#releasedMs = this.#pacer.release(performance.now(), due);
    let to = from;
    while (to < end && schedule.dueMs(chunk, to, this.#handedOver + to - from) <= this.#releasedMs) to++;
    return to;
  }

  async #wait(chunk: FrameChunk, row: number): Promise<void> {
    const waitMs = this.#pacer.waitMs(this.#schedule!.dueMs(chunk, row, this.#handedOver));
    if (waitMs < SHORT_WAIT_MS) return this.#turn();
    await sleep(Math.min(waitMs, LONG_WAIT_MS), undefined, { signal: this.#signal }).catch(() => {});
    this.#turnAt = performance.now();
  }

  async #turn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#turnAt = performance.now();
  }
}
