import { randomBytes } from 'node:crypto';
import type { ReplayAnswer, ReplaysAnswer } from '../protocol/http.js';
import type { Segment } from '../retention/segment.js';
import { ApiError } from '../server/api-error.js';
import type { Asked, Route, Services, View } from '../server/routes.js';
import { Replay } from './replay.js';

const MOST_AT_ONCE = 4;
const SLOWEST = 0.1;
const FASTEST = 100;
/** A replay that has ended is looked at for so long. */
const KEPT_MS = 600_000;
const TICK_MS = 50;

/** The stream of a view, if somebody looks at it. */
export type StreamOf = (view: View) => { readonly isTapped: boolean; take(part: Segment): void } | null;

/** Starts replays, lets their time pass, and ends them. */
export class Replays {
  readonly #all = new Map<string, Replay>();
  readonly #streamOf: StreamOf;
  #services: Services | null = null;
  #ticking: NodeJS.Timeout | undefined;

  constructor(streamOf: StreamOf) {
    this.#streamOf = streamOf;
  }

  routes(): readonly Route[] {
    return [
      { method: 'GET', path: '/api/v1/replays', handle: () => this.#listed() },
      { method: 'POST', path: '/api/v1/replays', changes: false, handle: (...asked) => this.#start(...asked) },
      { method: 'PUT', path: '/api/v1/replays/:id', changes: false, handle: (asked) => this.#change(asked) },
      { method: 'DELETE', path: '/api/v1/replays/:id', changes: false, handle: (asked) => this.#end(asked) },
    ];
  }

  close(): void {
    clearInterval(this.#ticking);
    this.#all.clear();
  }

  #listed(): ReplaysAnswer {
    return { replays: [...this.#all.values()].map(({ answer }) => answer) };
  }

  #start({ body }: Asked, services: Services): ReplayAnswer {
    const { from, to, speed = 1 } = (body ?? {}) as Partial<Record<string, unknown>>;
    if (!isTime(from) || !isTime(to) || from >= to) {
      throw new ApiError(400, 'ERR_BODY', 'the body must have from and to, times in milliseconds, from before to');
    }
    const { retention } = services.live;
    if (to - from > retention.seconds * 1000) {
      throw new ApiError(400, 'ERR_BODY', `a replay has at most the ${retention.seconds} seconds that are retained`);
    }
    const oldest = retention.store.fromMs;
    if (oldest === null || to <= oldest) {
      throw new ApiError(404, 'ERR_NOT_FOUND', 'nothing of this range is retained any more');
    }
    this.#expire();
    if (this.#all.size >= MOST_AT_ONCE) {
      throw new ApiError(429, 'ERR_TOO_MANY', `${MOST_AT_ONCE} replays run already: end one first`);
    }
    const id = randomBytes(6).toString('hex');
    const onPart = (view: View, part: Segment): void => this.#streamOf(view)?.take(part);
    const replay = new Replay({ id, from, to, speed: speedOf(speed), live: services.live, onPart }, performance.now());
    this.#all.set(id, replay);
    services.replays.set(id, replay.view);
    this.#services = services;
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
    return replay.answer;
  }

  #change({ params, body }: Asked): ReplayAnswer {
    const replay = this.#found(params.id!);
    const { speed } = (body ?? {}) as Partial<Record<string, unknown>>;
    replay.setSpeed(speed === 0 ? 0 : speedOf(speed), performance.now());
    return replay.answer;
  }

  #end({ params }: Asked): ReplaysAnswer {
    this.#remove(this.#found(params.id!).id);
    return this.#listed();
  }

  #found(id: string): Replay {
    const found = this.#all.get(id);
    if (found === undefined) throw new ApiError(404, 'ERR_NOT_FOUND', 'there is no such replay: it has ended');
    return found;
  }

  #remove(id: string): void {
    this.#all.delete(id);
    this.#services?.replays.delete(id);
    if (this.#all.size > 0) return;
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #expire(): void {
    const now = performance.now();
    for (const { id, endedMs } of [...this.#all.values()]) {
      if (endedMs !== null && now - endedMs > KEPT_MS) this.#remove(id);
    }
  }

  #tick(): void {
    const now = performance.now();
    for (const replay of this.#all.values()) replay.tick(now, this.#streamOf(replay.view)?.isTapped ?? false);
    this.#expire();
  }
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** @throws ApiError for a speed out of range */
function speedOf(value: unknown): number {
  if (typeof value === 'number' && value >= SLOWEST && value <= FASTEST) return value;
  throw new ApiError(400, 'ERR_BODY', `speed must be a number from ${SLOWEST} to ${FASTEST}`);
}
