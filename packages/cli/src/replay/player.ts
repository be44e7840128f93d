import { setTimeout as sleep } from 'node:timers/promises';
import type { ChunkTaker } from './capture-loop.js';
import type { FrameChunk } from './frame-chunk.js';
import { Pacer } from './pacer.js';
import type { Schedule } from './schedule.js';
import type { SkipReason } from './skip-reason.js';
import type { Target } from './target.js';

/** Longest time without a turn of the event loop, for which timers and signals wait. */
const TURN_MS = 5;
/** Shorter waits are turns of the event loop, because the resolution of timers is a millisecond. */
const SHORT_WAIT_MS = 0.3;
/** Longer waits are split, because the system's timers do not accept them. */
const LONG_WAIT_MS = 60_000;

/** Sends frames when they are due. */
export class Player implements ChunkTaker {
  readonly skipped = new Map<SkipReason, number>();
  readonly #target: Target;
  readonly #schedule: Schedule | null;
  readonly #signal: AbortSignal;
  readonly #pacer: Pacer;
  /** The released part of the schedule. */
  #releasedMs = -1;
  #handedOver = 0;
  #inLoop = 0;
  #lastMs = 0;
  #loops = 0;
  #turnAt = 0;
  #startedAt = Number.NaN;

  /** @param schedule null for the full speed of the target @param signal stops sending when aborted */
  constructor(target: Target, schedule: Schedule | null, signal: AbortSignal) {
    this.#target = target;
    this.#schedule = schedule;
    this.#signal = signal;
    this.#pacer = new Pacer(schedule === null ? {} : { slackMs: schedule.slackMs });
  }

  get loops(): number {
    return this.#loops;
  }

  get handedOver(): number {
    return this.#handedOver;
  }

  /** Time when the first frame was passed to the target, by `performance.now`; NaN before. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** Milliseconds by which the schedule was postponed because the target was too slow. */
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

  /** @returns false if there was nothing to send, so that a further loop is pointless */
  endLoop(): boolean {
    this.#loops++;
    this.#schedule?.endLoop(this.#inLoop, this.#lastMs);
    const hasSent = this.#inLoop > 0;
    this.#inLoop = 0;
    this.#lastMs = 0;
    return hasSent;
  }

  /** The row before which frames may leave now. */
  #ready(chunk: FrameChunk, from: number): number {
    const end = Math.min(chunk.count, from + this.#target.most);
    const schedule = this.#schedule;
    if (schedule === null) return end;
    const due = schedule.dueMs(chunk, from, this.#handedOver);
    // Send the released part before releasing more, so that it cannot grow to a burst.
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
