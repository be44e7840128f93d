import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { FLOW_SORTS, filterOf } from '../answers/flows.js';
import type { Filter } from '../filter/index.js';
import { BUCKET_MS, type EntityKey, parseEntity, SERIES_METRICS, type SeriesMetric } from '../protocol/entities.js';
import type { ServerMessage, ViewerMessage } from '../protocol/live.js';
import { ApiError } from './api-error.js';

/** Subscriptions of a viewer, and entities of one. */
const MOST_SUBSCRIPTIONS = 64;
const MOST_ENTITIES = 64;
const MOST_ROWS = 1000;
const MOST_PER_SECOND = 5000;
/** Bytes of a viewer's message, see `maxPayload`. */
export const MOST_MESSAGE = 1 << 16;
/** Messages of a viewer: so many at once, and so many a second. */
const MESSAGE_BURST = 200;
const MESSAGES_PER_SECOND = 50;
/** Bytes that wait for a viewer before it is behind. */
const BEHIND_BYTES = 1 << 18;
/** Bytes that are put together into one write at most. */
const TOGETHER_BYTES = 1 << 15;
/** A viewer that refuses to behave is sent away. */
const MOST_REFUSALS = 100;

/** Frames of series. */
export interface SeriesSubscription {
  readonly type: 'series';
  readonly id: number;
  readonly metric: SeriesMetric;
  readonly entities: readonly EntityKey[];
  /** The next bucket to send; `null`: the newest. */
  next: number | null;
  sequence: number;
  missed: number;
  generation: number;
}

/** Something that is asked once a second. */
export interface TableSubscription {
  readonly type: 'flows' | 'topology' | 'status' | 'control';
  readonly id: number;
  readonly filter: string;
  readonly sort: string;
  readonly limit: number;
  dueMs: number;
}

/** Rows as they come. */
export interface RowSubscription {
  readonly type: 'events' | 'reports';
  readonly id: number;
  readonly filter: Filter;
  readonly perSecond: number;
  /** Rows that may still be sent in this second. */
  left: number;
  missed: number;
}

/** What the controller does, as it does it. */
export interface JournalSubscription {
  readonly type: 'journal';
  readonly id: number;
  missed: number;
}

export type Subscription = SeriesSubscription | TableSubscription | RowSubscription | JournalSubscription;

/** One WebSocket, its subscriptions, and how well it keeps up. */
export class Viewer {
  readonly subscriptions = new Map<number, Subscription>();
  readonly #socket: WebSocket;
  /** The connection below it. */
  readonly #stream: Duplex;
  #isTogether = false;
  readonly #count: (code: string) => void;
  #tokens = MESSAGE_BURST;
  #tokensMs = performance.now();
  #refusals = 0;
  #strikes = 0;
  #waiting = 0;
  framesSent = 0;
  framesSkipped = 0;

  constructor(socket: WebSocket, stream: Duplex, count: (code: string) => void) {
    this.#socket = socket;
    this.#stream = stream;
    this.#count = count;
    socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary));
    socket.on('pong', () => {
      this.#strikes = 0;
    });
    // The library closes the connection, with the fitting code.
    socket.on('error', (error) => count(codeOf(error)));
  }

  /** Whether what was sent last is still waiting: nothing more is added then. */
  get isBehind(): boolean {
    return this.#socket.bufferedAmount > BEHIND_BYTES;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  send(message: ServerMessage): void {
    this.sendText(JSON.stringify(message));
  }

  sendText(text: string): void {
    if (!this.isOpen) return;
    this.#socket.send(text);
    this.#pass();
  }

  sendFrame(frame: Uint8Array): void {
    if (!this.isOpen) return;
    this.framesSent++;
    this.#socket.send(frame);
    this.#pass();
  }

  /** What is sent in a function goes to the system together: each write costs more than what it carries. */
  together(send: () => void): void {
    this.#stream.cork();
    this.#isTogether = true;
    try {
      send();
    } finally {
      this.#isTogether = false;
      this.#stream.uncork();
    }
  }

  /** Hands on what is together, if it is much: only what waits longer says that a viewer is behind. */
  #pass(): void {
    if (!this.#isTogether || this.#socket.bufferedAmount < TOGETHER_BYTES) return;
    this.#stream.uncork();
    this.#stream.cork();
  }

  /** Asks for a sign of life. @returns false if the last two requests had no answer, and nothing was read meanwhile */
  ping(): boolean {
    const { bufferedAmount } = this.#socket;
    // A slow viewer has not come to the ping yet, but reads.
    this.#strikes = bufferedAmount < this.#waiting ? 1 : this.#strikes + 1;
    this.#waiting = bufferedAmount;
    if (this.#strikes > 2) return false;
    if (this.isOpen) this.#socket.ping();
    return true;
  }

  /** Ends the connection without waiting. */
  terminate(): void {
    this.#socket.terminate();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  refuse(id: number | null, code: string, message: string): void {
    this.#count(code);
    if (++this.#refusals > MOST_REFUSALS) {
      this.close(1008, 'too many messages refused');
      return;
    }
    if (!this.isBehind) this.send({ type: 'refused', id, code, message });
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (!this.isOpen) return;
    const now = performance.now();
    this.#tokens = Math.min(MESSAGE_BURST, this.#tokens + ((now - this.#tokensMs) / 1000) * MESSAGES_PER_SECOND);
    this.#tokensMs = now;
    if (this.#tokens < 1) {
      this.refuse(null, 'ERR_RATE', 'too many messages: wait');
      return;
    }
    this.#tokens--;
    if (isBinary) {
      this.refuse(null, 'ERR_MESSAGE', 'messages are JSON text');
      return;
    }
    let message: unknown;
    try {
      message = JSON.parse(data.toString('utf8'));
    } catch {
      this.refuse(null, 'ERR_JSON', 'the message is no JSON');
      return;
    }
    const id = idOf(message);
    try {
      this.#subscribe(message, id);
    } catch (error) {
      const code = ApiError.is(error) ? error.code : 'ERR_MESSAGE';
      this.refuse(id, code, error instanceof Error ? error.message : String(error));
    }
  }

  #subscribe(value: unknown, id: number | null): void {
    if (id === null) throw new ApiError(400, 'ERR_MESSAGE', 'a message is an object with an id from 1 to 65535');
    const message = value as ViewerMessage;
    if (message.type === 'end') {
      this.subscriptions.delete(id);
      return;
    }
    const subscription = subscriptionOf(message, id);
    if (!this.subscriptions.has(id) && this.subscriptions.size >= MOST_SUBSCRIPTIONS) {
      throw new ApiError(400, 'ERR_TOO_MANY', `at most ${MOST_SUBSCRIPTIONS} subscriptions`);
    }
    // Numbers of frames go on where the old subscription's end.
    this.subscriptions.delete(id);
    this.subscriptions.set(id, subscription);
  }
}

function idOf(message: unknown): number | null {
  if (typeof message !== 'object' || message === null) return null;
  const { id } = message as { id?: unknown };
  return typeof id === 'number' && Number.isInteger(id) && id >= 1 && id <= 0xffff ? id : null;
}

/** @throws ApiError */
function subscriptionOf(message: ViewerMessage, id: number): Subscription {
  switch (message.type) {
    case 'series': {
      const { metric, entities, from } = message;
      if (!SERIES_METRICS.includes(metric)) {
        throw new ApiError(400, 'ERR_PARAMETER', `metric must be one of ${SERIES_METRICS.join(', ')}`);
      }
      if (!Array.isArray(entities) || entities.length < 1 || entities.length > MOST_ENTITIES) {
        throw new ApiError(400, 'ERR_TOO_MANY', `a subscription has 1 to ${MOST_ENTITIES} entities`);
      }
      for (const key of entities as readonly unknown[]) {
        if (typeof key !== 'string' || parseEntity(key) === null) {
          throw new ApiError(400, 'ERR_PARAMETER', `no entity: ${String(key).slice(0, 100)}`);
        }
      }
      if (from !== undefined && !Number.isFinite(from)) {
        throw new ApiError(400, 'ERR_PARAMETER', 'from is a time in milliseconds');
      }
      const next = from === undefined ? null : Math.floor(from / BUCKET_MS);
      return { type: 'series', id, metric, entities: [...entities], next, sequence: 0, missed: 0, generation: -1 };
    }
    case 'flows': {
      const filter = filterText(message.filter);
      const sort = message.sort ?? '';
      if (typeof sort !== 'string' || !['', ...FLOW_SORTS].includes(sort.replace(/^-/, ''))) {
        throw new ApiError(400, 'ERR_PARAMETER', `sort must be one of ${FLOW_SORTS.join(', ')}`);
      }
      filterOf(filter);
      return { type: 'flows', id, filter, sort, limit: count(message.limit, 'limit', 100, MOST_ROWS), dueMs: 0 };
    }
    case 'events':
    case 'reports': {
      const filter = filterOf(filterText(message.filter));
      const wanted = message.type === 'reports' ? message.perSecond : undefined;
      const perSecond = count(wanted, 'perSecond', 1000, MOST_PER_SECOND);
      return { type: message.type, id, filter, perSecond, left: perSecond, missed: 0 };
    }
    case 'journal':
      return { type: 'journal', id, missed: 0 };
    case 'topology':
    case 'status':
    case 'control':
      return { type: message.type, id, filter: '', sort: '', limit: 0, dueMs: 0 };
    default:
      throw new ApiError(
        400,
        'ERR_MESSAGE',
        'type must be series, flows, events, reports, topology, status, control, journal or end',
      );
  }
}

function filterText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') throw new ApiError(400, 'ERR_FILTER', 'filter is a text');
  return value;
}

function count(value: unknown, name: string, usual: number, most: number): number {
  if (value === undefined) return usual;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > most) {
    throw new ApiError(400, 'ERR_PARAMETER', `${name} must be a whole number from 1 to ${most}`);
  }
  return value;
}

/** Code of what `ws` refuses: frames that are too long, badly masked, not UTF-8. */
function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? 'ERR_MESSAGE';
}
