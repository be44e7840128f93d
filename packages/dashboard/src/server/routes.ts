import type { NetworkView } from '../network/network-view.js';
import type { ControlAnswer } from '../protocol/control.js';
import type { Status } from '../protocol/http.js';
import type { Retention } from '../retention/retention.js';
import { ApiError } from './api-error.js';

/** What is looked at: the live network, or a replay. */
export interface View {
  readonly retention: Retention;
  readonly network: NetworkView;
}

/** What handlers of requests have. All of it is in the dashboard's thread. */
export interface Services {
  readonly live: View;
  /** Replays, by id. Whoever starts one adds it, and removes it at its end. */
  readonly replays: Map<string, View>;
  readonly isReadOnly: boolean;
  /** What the program has told of itself: see `DashboardOptions.facts`. It changes. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** The state of the controller as the program has told it last; `null`: there is none. It changes. */
  readonly control: ControlAnswer | null;
  status(): Status;
  /**
   * Asks the program, in the pipeline's thread: see `DashboardOptions.answers`.
   * @throws ApiError (rejects) `ERR_UNAVAILABLE` if nobody answers to the name, or not in time; what the answer threw
   */
  ask(name: string, data: unknown): Promise<unknown>;
}

/** A request that the server has checked. */
export interface Asked {
  /** Parts of the path, by the names that the route gives them. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The body, from JSON; `undefined`: there is none. */
  readonly body: unknown;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/** How one kind of request is answered. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `/api/v1/events/:id`: `:id` is one part of the path. */
  readonly path: string;
  /** Whether it changes something, so that a read-only dashboard refuses it. Default: every `PUT` and `DELETE`. */
  readonly changes?: boolean;
  /** @returns what becomes JSON @throws ApiError for what cannot be answered */
  readonly handle: (asked: Asked, services: Services) => unknown;
}

/** A number as JSON has it: no `0x10`, no blanks, no empty text. */
const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** The last time that nanoseconds since the epoch say in 64 bits: in the year 2262. */
export const LAST_MS = 9_223_372_036_854;

interface Compiled {
  readonly route: Route;
  readonly parts: readonly string[];
}

/** Finds the route of a request. */
export class Routes {
  readonly #routes: readonly Compiled[];

  constructor(routes: readonly Route[]) {
    this.#routes = routes.map((route) => ({ route, parts: route.path.split('/') }));
  }

  /** @throws ApiError `ERR_NOT_FOUND` or `ERR_METHOD` */
  find(method: string, path: string): { readonly route: Route; readonly params: Readonly<Record<string, string>> } {
    const given = path.split('/');
    const fitting = this.#routes.flatMap(({ route, parts }) => {
      const params = paramsOf(parts, given);
      return params === null ? [] : [{ route, params }];
    });
    // Named parts come before those that take anything.
    const plain = (route: Route): number => (route.path.includes(':') ? 1 : 0);
    const found = fitting
      .filter(({ route }) => route.method === method || (method === 'HEAD' && route.method === 'GET'))
      .sort((a, b) => plain(a.route) - plain(b.route))[0];
    if (found !== undefined) return found;
    if (fitting.length === 0) throw new ApiError(404, 'ERR_NOT_FOUND', `there is no ${path}`);
    const methods = [...new Set(fitting.map(({ route }) => route.method))].join(', ');
    throw new ApiError(405, 'ERR_METHOD', `${path} takes ${methods}`);
  }

  get list(): readonly Route[] {
    return this.#routes.map(({ route }) => route);
  }
}

function paramsOf(parts: readonly string[], given: readonly string[]): Readonly<Record<string, string>> | null {
  if (parts.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    if (!part.startsWith(':')) {
      if (part !== given[index]) return null;
      continue;
    }
    try {
      params[part.slice(1)] = decodeURIComponent(given[index]!);
    } catch {
      return null;
    }
    if (given[index] === '') return null;
  }
  return params;
}

/** The view that a request asks for with `replay=`. @throws ApiError if there is no such replay */
export function viewOf({ query }: Pick<Asked, 'query'>, { live, replays }: Services): View {
  const id = query.get('replay');
  if (id === null) return live;
  const found = replays.get(id);
  if (found === undefined) throw new ApiError(404, 'ERR_NOT_FOUND', `there is no replay ${id}: it has ended`);
  return found;
}

/** How many rows a query asks for. @throws ApiError if it is no whole number from 1 to `most` */
export function limitOf(query: URLSearchParams, most: number, usual: number): number {
  return numberOf(query, 'limit', { least: 1, most, isWhole: true }) ?? usual;
}

/**
 * The range of times of a query.
 * @throws ApiError if a time is none, or it ends before it begins
 */
export function rangeOf(query: URLSearchParams): {
  readonly from: number | undefined;
  readonly to: number | undefined;
} {
  const [from, to] = [numberOf(query, 'from'), numberOf(query, 'to')];
  if (from !== undefined && to !== undefined && from >= to) {
    throw new ApiError(400, 'ERR_PARAMETER', 'from must be before to');
  }
  return { from, to };
}

/** A number of the query. @throws ApiError if it is none, or out of range */
export function numberOf(
  query: URLSearchParams,
  name: string,
  { least = 0, most = LAST_MS, isWhole = false }: { least?: number; most?: number; isWhole?: boolean } = {},
): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = Number(text);
  if (!DECIMAL.test(text) || value < least || value > most || (isWhole && !Number.isInteger(value))) {
    throw new ApiError(
      400,
      'ERR_PARAMETER',
      `${name} must be a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}`,
    );
  }
  return value;
}
