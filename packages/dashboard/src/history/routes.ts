import type { QueryAnswer, SavedQueriesAnswer } from '../protocol/http.js';
import { ApiError } from '../server/api-error.js';
import type { Asked, Route, Services } from '../server/routes.js';
import { type HistoryFact, HistoryReader } from './history-reader.js';
import { MOST_SQL, SavedQueries } from './saved-queries.js';

const USUAL_ROWS = 1000;
const MOST_ROWS = 10_000;
const LIMIT_MS = 30_000;

/** What can be asked of the history. */
export class HistoryService {
  readonly #file: string;
  #reader: HistoryReader | null = null;

  /** @param file code of the process of queries, see {@link HistoryReader} */
  constructor(file: string) {
    this.#file = file;
  }

  routes(): readonly Route[] {
    return [
      { method: 'POST', path: '/api/v1/query', changes: false, handle: (...asked) => this.#query(...asked) },
      { method: 'GET', path: '/api/v1/queries', handle: async (_, services) => this.#listed(services) },
      { method: 'PUT', path: '/api/v1/queries/:name', handle: (...asked) => this.#save(...asked) },
      { method: 'DELETE', path: '/api/v1/queries/:name', handle: (...asked) => this.#remove(...asked) },
    ];
  }

  /** The history that the program has told of; `null`: it has none. */
  readerOf({ facts }: Pick<Services, 'facts'>): HistoryReader | null {
    const fact = facts.history as HistoryFact | undefined;
    if (fact === undefined || fact === null) return null;
    if (this.#reader === null || !this.#reader.isOf(fact)) {
      void this.#reader?.close();
      this.#reader = new HistoryReader(fact, this.#file);
    }
    return this.#reader;
  }

  async close(): Promise<void> {
    await this.#reader?.close();
  }

  async #query({ body, signal }: Asked, services: Services): Promise<QueryAnswer> {
    const { sql, limit = USUAL_ROWS } = (body ?? {}) as { readonly sql?: unknown; readonly limit?: unknown };
    if (typeof sql !== 'string' || sql.length > MOST_SQL) {
      throw new ApiError(400, 'ERR_BODY', `the body must have sql, a text of at most ${MOST_SQL} characters`);
    }
    if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MOST_ROWS) {
      throw new ApiError(400, 'ERR_BODY', `limit must be a whole number from 1 to ${MOST_ROWS}`);
    }
    return this.#needed(services).query(sql, { rows: limit, ms: LIMIT_MS }, signal);
  }

  async #listed(services: Services): Promise<SavedQueriesAnswer> {
    return { queries: await this.#saved(services).list() };
  }

  async #save({ params, body }: Asked, services: Services): Promise<SavedQueriesAnswer> {
    const { sql } = (body ?? {}) as { readonly sql?: unknown };
    if (typeof sql !== 'string' || sql.length > MOST_SQL) {
      throw new ApiError(400, 'ERR_BODY', `the body must have sql, a text of at most ${MOST_SQL} characters`);
    }
    return { queries: await this.#saved(services).put({ name: params.name!, sql }) };
  }

  async #remove({ params }: Asked, services: Services): Promise<SavedQueriesAnswer> {
    return { queries: await this.#saved(services).remove(params.name!) };
  }

  #needed(services: Services): HistoryReader {
    const reader = this.readerOf(services);
    if (reader !== null) return reader;
    throw new ApiError(404, 'ERR_UNAVAILABLE', 'there is no history: add a parquet sink to the configuration');
  }

  #saved(services: Services): SavedQueries {
    return new SavedQueries(this.#needed(services).directory);
  }
}
