import { randomBytes } from 'node:crypto';
import type { ReplayAnswer, ReplaysAnswer } from '../protocol/http.js';
import type { Segment } from '../retention/segment.js';
import { ApiError } from '../server/api-error.js';
import type { Asked, Route, Services, View } from '../server/routes.js';
import { Replay } from './replay.js';
import { capturesAnswer, openRange, type ReaderOf, replayRequest, speedOf } from './request.js';

const MOST_AT_ONCE = 4;
/** A replay that has ended is looked at for so long. */
const KEPT_MS = 600_000;
const TICK_MS = 50;

/** The stream of a view, if somebody looks at it. */
export type StreamOf = (view: View) => { readonly isTapped: boolean; take(part: Segment): void } | null;

/** Starts replays, lets their time pass, and ends them. */
export class Replays {
  readonly #all = new Map<string, Replay>();
  readonly #streamOf: StreamOf;
  readonly #readerOf: ReaderOf;
  /** Those that are being opened. */
  #starting = 0;
  #services: Services | null = null;
  #ticking: NodeJS.Timeout | undefined;

  /** @param readerOf the history that the program has told of; `null`: it has none */
  constructor(streamOf: StreamOf, readerOf: ReaderOf) {
    this.#streamOf = streamOf;
    this.#readerOf = readerOf;
  }

  routes(): readonly Route[] {
    return [
      { method: 'GET', path: '/api/v1/captures', handle: (_, services) => capturesAnswer(services) },
      { method: 'GET', path: '/api/v1/replays', handle: () => this.#listed() },
      { method: 'POST', path: '/api/v1/replays', changes: false, handle: (...asked) => this.#start(...asked) },
      { method: 'PUT', path: '/api/v1/replays/:id', changes: false, handle: (asked) => this.#change(asked) },
      { method: 'DELETE', path: '/api/v1/replays/:id', changes: false, handle: (asked) => this.#end(asked) },
    ];
  }

  close(): void {
    clearInterval(this.#ticking);
    for (const replay of this.#all.values()) replay.close();
    this.#all.clear();
  }

  #listed(): ReplaysAnswer {
    return { replays: [...this.#all.values()].map(({ answer }) => answer) };
  }

  async #start({ body, signal }: Asked, services: Services): Promise<ReplayAnswer> {
    const asked = replayRequest(body);
    this.#expire();
    if (this.#all.size + this.#starting >= MOST_AT_ONCE) {
      throw new ApiError(429, 'ERR_TOO_MANY', `${MOST_AT_ONCE} replays run already: end one first`);
    }
    this.#starting++;
    try {
      const opened = await openRange(asked, services, this.#readerOf, signal);
      if (signal.aborted) {
        opened.source.close?.();
        signal.throwIfAborted();
      }
      const id = randomBytes(6).toString('hex');
      const onPart = (view: View, part: Segment): void => this.#streamOf(view)?.take(part);
      const replay = new Replay({ id, ...opened, speed: asked.speed, live: services.live, onPart }, performance.now());
      this.#all.set(id, replay);
      services.replays.set(id, replay.view);
      this.#services = services;
      this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
      return replay.answer;
    } finally {
      this.#starting--;
    }
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
    this.#all.get(id)?.close();
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
