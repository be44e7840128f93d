import { API_CODES, type ApiCode, ApiError } from '../server/api-error.js';
import type { FromThread, ToThread } from './messages.js';

/** Time that the program has for an answer. */
const PATIENCE_MS = 30_000;
/** Questions that wait at a time. */
const MOST_WAITING = 64;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly limit: NodeJS.Timeout;
}

/** Questions of the dashboard's thread to the program, which answers each or not. */
export class Questions {
  readonly #tell: (message: FromThread) => void;
  readonly #waiting = new Map<number, Waiting>();
  #next = 1;

  constructor(tell: (message: FromThread) => void) {
    this.#tell = tell;
  }

  ask(what: string, data: unknown): Promise<unknown> {
    if (this.#waiting.size >= MOST_WAITING) {
      return Promise.reject(new ApiError(503, 'ERR_TOO_MANY', 'too many requests under way: try again'));
    }
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new ApiError(503, 'ERR_UNAVAILABLE', `no answer from the collector for ${PATIENCE_MS / 1000} s`));
      }, PATIENCE_MS);
      this.#waiting.set(id, { resolve, reject, limit });
      this.#tell({ name: 'ask', id, what, data });
    });
  }

  settle(message: Extract<ToThread, { name: 'answer' | 'failed' }>): void {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    this.#waiting.delete(message.id);
    clearTimeout(waiting.limit);
    if (message.name === 'answer') waiting.resolve(message.value);
    else {
      const code = API_CODES.find((each) => each === message.code) ?? ('ERR_INTERNAL' satisfies ApiCode);
      waiting.reject(new ApiError(message.status, code, message.message, message.at));
    }
  }
}
