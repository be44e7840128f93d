import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SavedQuery } from '../protocol/http.js';
import { ApiError } from '../server/api-error.js';

const FILE = 'saved-queries.json';
const MOST = 100;
const MOST_NAME = 100;
export const MOST_SQL = 20_000;
const MOST_BYTES = 4 << 20;

/** Queries with names, in a file in the folder of the history: all who look at it share them. */
export class SavedQueries {
  readonly #path: string;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(directory: string) {
    this.#path = join(directory, FILE);
  }

  /** In the order of their names. A file that is something else counts as none. */
  async list(): Promise<SavedQuery[]> {
    try {
      if ((await stat(this.#path)).size > MOST_BYTES) return [];
      const found: unknown = JSON.parse(await readFile(this.#path, 'utf8'));
      if (!Array.isArray(found)) return [];
      return found.filter(isSavedQuery).slice(0, MOST);
    } catch {
      return [];
    }
  }

  /** @throws ApiError (rejects) if there are too many, or the file cannot be written */
  put(query: SavedQuery): Promise<SavedQuery[]> {
    if (query.name.trim() === '' || query.name.length > MOST_NAME) {
      throw new ApiError(400, 'ERR_PARAMETER', `a name must have 1 to ${MOST_NAME} characters`);
    }
    return this.#change((all) => {
      const others = all.filter(({ name }) => name !== query.name);
      if (others.length >= MOST) throw new ApiError(409, 'ERR_TOO_MANY', `${MOST} queries are saved: remove one first`);
      return [...others, query];
    });
  }

  remove(name: string): Promise<SavedQuery[]> {
    return this.#change((all) => all.filter((each) => each.name !== name));
  }

  /** One change after another. */
  #change(change: (all: SavedQuery[]) => SavedQuery[]): Promise<SavedQuery[]> {
    const changed = this.#writing.then(async () => {
      const next = change(await this.list()).sort((a, b) => (a.name < b.name ? -1 : 1));
      const unfinished = `${this.#path}.${randomBytes(6).toString('hex')}`;
      try {
        await writeFile(unfinished, JSON.stringify(next), { flag: 'wx' });
        await rename(unfinished, this.#path);
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => {});
        throw new ApiError(500, 'ERR_QUERY', `the query cannot be saved: ${(error as Error).message}`);
      }
      return next;
    });
    this.#writing = changed.catch(() => {});
    return changed;
  }
}

function isSavedQuery(value: unknown): value is SavedQuery {
  const { name, sql } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof name === 'string' && typeof sql === 'string' && name.length <= MOST_NAME && sql.length <= MOST_SQL;
}
