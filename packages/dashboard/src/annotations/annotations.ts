import { parseEntity } from '../protocol/entities.js';
import type { Annotation, AnnotationsAnswer } from '../protocol/http.js';
import { ApiError } from '../server/api-error.js';
import { type Asked, LAST_MS, type Route, rangeOf, type Services } from '../server/routes.js';

const MOST = 500;
const MOST_TEXT = 300;
export const MOST_DURATION_MS = 86_400_000;
/** Those that the status has: the newest. */
const NEWEST = 20;

/** What people and programs have noted of a time: a deployment, a fault that was made on purpose. The newest are kept. */
export class Annotations {
  readonly #all: Annotation[] = [];
  #next = 1;

  routes(): readonly Route[] {
    return [
      { method: 'GET', path: '/api/v1/annotations', handle: (asked) => this.#listed(asked) },
      { method: 'POST', path: '/api/v1/annotations', changes: true, handle: (...asked) => this.#add(...asked) },
    ];
  }

  /** The newest ones, newest first. */
  get newest(): readonly Annotation[] {
    return this.#all.slice(-NEWEST).reverse();
  }

  #listed({ query }: Asked): AnnotationsAnswer {
    const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = rangeOf(query);
    const isIn = ({ timeMs, durationMs }: Annotation): boolean => timeMs < to && timeMs + durationMs >= from;
    return { annotations: this.#all.filter(isIn).reverse() };
  }

  #add({ body }: Asked, { live }: Services): Annotation {
    const { text, timeMs, durationMs = 0, entity = null } = (body ?? {}) as Partial<Record<string, unknown>>;
    if (typeof text !== 'string' || text.trim() === '' || text.length > MOST_TEXT) {
      throw new ApiError(400, 'ERR_BODY', `the body must have text, 1 to ${MOST_TEXT} characters`);
    }
    const time = timeMs ?? live.retention.nowMs ?? Date.now();
    if (typeof time !== 'number' || !(time >= 0 && time <= LAST_MS)) {
      throw new ApiError(400, 'ERR_BODY', 'timeMs must be a time in milliseconds');
    }
    if (typeof durationMs !== 'number' || !(durationMs >= 0 && durationMs <= MOST_DURATION_MS)) {
      throw new ApiError(400, 'ERR_BODY', `durationMs must be a number from 0 to ${MOST_DURATION_MS}`);
    }
    if (entity !== null && (typeof entity !== 'string' || parseEntity(entity) === null)) {
      throw new ApiError(400, 'ERR_BODY', 'entity must be one such as switch:3 or link:1:65-101:1');
    }
    const annotation = { id: String(this.#next++), timeMs: time, durationMs, text, entity };
    this.#all.push(annotation);
    if (this.#all.length > MOST) this.#all.shift();
    return annotation;
  }
}
