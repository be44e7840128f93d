import { OpenSearchSinkError, type OpenSearchSinkErrorCode } from '../errors.js';
import type { Answer } from './http.js';

/** A server's answer for one record. */
export interface ItemOutcome {
  /** Of `stored`: by an earlier request. */
  readonly isRepeat: boolean;
  /** `stored`: now or by an earlier request. `failed`: the server failed. `rejected`: it refuses this record. */
  readonly outcome: 'stored' | 'retry' | 'failed' | 'rejected';
  /** Of `retry` and `failed`. */
  readonly code: OpenSearchSinkErrorCode;
  /** Of anything but `stored`: the server's name for it. */
  readonly type: string;
  /** The server's words. */
  readonly reason: string;
}

/** A server's answer for a whole request. */
export type BulkOutcome =
  /** One for each record, in the order of the request. */
  | { readonly items: readonly ItemOutcome[] }
  /** To be sent again. `isRefused`: certainly nothing of it has been carried out. */
  | { readonly problem: OpenSearchSinkError; readonly isRefused: boolean }
  /** Too long, or partly invalid: smaller parts may succeed. */
  | { readonly split: string };

const STORED: ItemOutcome = {
  outcome: 'stored',
  isRepeat: false,
  code: 'ERR_OPENSEARCH_UNEXPECTED',
  type: '',
  reason: '',
};
const REPEATED: ItemOutcome = { ...STORED, isRepeat: true };
/** The longest part of an answer that is quoted. */
const QUOTED = 300;

interface ErrorJson {
  readonly type?: unknown;
  readonly reason?: unknown;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What an answer that is no success says, in a line. */
export function quote({ status, text }: Answer): string {
  const body = parse(text);
  const error: unknown = isObject(body) ? body.error : undefined;
  const reason = isObject(error) ? `${String(error.type)}: ${String(error.reason)}` : (error ?? text);
  return `HTTP ${status}: ${String(reason).replace(/\s+/g, ' ').slice(0, QUOTED)}`;
}

function busyOrBlocked(status: number, type: string): OpenSearchSinkErrorCode | null {
  // A read-only index is 403 or 429 depending on the version, and so are credentials that do not suffice.
  if (type === 'cluster_block_exception') return 'ERR_OPENSEARCH_BLOCKED';
  if (status === 401 || status === 403) return 'ERR_OPENSEARCH_AUTH';
  if (status === 429 || status === 502 || status === 503 || status === 504) return 'ERR_OPENSEARCH_BUSY';
  return null;
}

function itemOutcome(item: unknown): ItemOutcome | null {
  const result: unknown = isObject(item) ? (item.create ?? item.index) : undefined;
  if (!isObject(result) || typeof result.status !== 'number') return null;
  const { status } = result;
  if (status >= 200 && status < 300) return STORED;
  // There is a record of this id, and ids are used once: an earlier request did arrive.
  if (status === 409) return REPEATED;
  const { type = '', reason = '' }: ErrorJson = isObject(result.error) ? result.error : {};
  const told = { isRepeat: false, type: String(type) || `HTTP ${status}`, reason: String(reason).slice(0, QUOTED) };
  const code = busyOrBlocked(status, told.type);
  if (code !== null) return { outcome: 'retry', code, ...told };
  if (status >= 500) return { outcome: 'failed', code: 'ERR_OPENSEARCH_BUSY', ...told };
  return { outcome: 'rejected', code: 'ERR_OPENSEARCH_REJECTED', ...told };
}

/** Reads the answer to a bulk request. @param records in the request */
export function readBulkAnswer(answer: Answer, records: number): BulkOutcome {
  const { status, text } = answer;
  const unexpected = (message: string): BulkOutcome => ({
    problem: new OpenSearchSinkError('ERR_OPENSEARCH_UNEXPECTED', message),
    isRefused: false,
  });
  if (status === 200) {
    const body = parse(text);
    if (!isObject(body) || !Array.isArray(body.items)) return unexpected('the answer is not that of a bulk request');
    if (body.items.length !== records) return unexpected(`${records} records, ${body.items.length} in the answer`);
    const items = body.items.map(itemOutcome);
    if (items.includes(null)) return unexpected('a record without a status in the answer');
    return { items: items as ItemOutcome[] };
  }
  if (status === 413 || status === 400) return { split: quote(answer) };
  const body = parse(text);
  const error: unknown = isObject(body) ? body.error : undefined;
  const type = isObject(error) ? String(error.type) : '';
  const code = busyOrBlocked(status, type) ?? (status >= 500 ? 'ERR_OPENSEARCH_BUSY' : 'ERR_OPENSEARCH_UNEXPECTED');
  // A proxy that gave up waiting (5xx) does not know what the server has done.
  return { problem: new OpenSearchSinkError(code, quote(answer)), isRefused: status < 500 };
}
