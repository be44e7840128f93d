import { ApiError } from '../server/api-error.js';
import type { Asked, Route } from '../server/routes.js';
import { OPERATIONS } from './document.js';
import type { Schema } from './schema.js';

/** Parameters that every request takes. */
const EVERYWHERE = ['replay'];
const MOST_SHOWN = 60;

/**
 * Refuses what the document does not describe: parameters and members of the body that the request does not take, and parameters
 * that are given twice. A mistake in a name would otherwise be an answer to another question.
 * @throws ApiError `ERR_PARAMETER` or `ERR_BODY`
 */
export function checkNames({ method, path }: Route, { query, body }: Pick<Asked, 'query' | 'body'>): void {
  const operation = OPERATIONS[`${method} ${path}`];
  if (operation === undefined) return;
  const known: Readonly<Record<string, Schema>> = operation.query ?? {};
  for (const name of new Set(query.keys())) {
    if (!Object.hasOwn(known, name) && !EVERYWHERE.includes(name)) {
      throw new ApiError(400, 'ERR_PARAMETER', unknown(name, [...Object.keys(known), ...EVERYWHERE]));
    }
    if (known[name]?.type !== 'array' && query.getAll(name).length > 1) {
      throw new ApiError(400, 'ERR_PARAMETER', `${name} is given more than once`);
    }
  }
  if (operation.body === undefined || typeof body !== 'object' || body === null) return;
  const members = operation.body.properties as Readonly<Record<string, Schema>>;
  for (const name of Object.keys(body)) {
    if (!Object.hasOwn(members, name)) throw new ApiError(400, 'ERR_BODY', unknown(name, Object.keys(members)));
  }
}

const unknown = (name: string, known: readonly string[]): string =>
  `${JSON.stringify(name.slice(0, MOST_SHOWN))} is none of ${known.join(', ')}`;
