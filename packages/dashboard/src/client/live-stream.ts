import { decodeSeriesFrame } from '../protocol/frame.js';
import type { SeriesFrame, ServerMessage, ViewerMessage } from '../protocol/live.js';

/** What a {@link LiveStream} needs of a socket: the one of browsers, or of the package `ws`. */
export interface SocketLike {
  binaryType: string;
  readonly readyState: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'close' | 'error' | 'message', listener: (event: never) => void): void;
}

type WithoutId<Message> = Message extends { readonly id: number } ? Omit<Message, 'id'> : never;

/** What one can subscribe to: a message of a viewer, without the number that the stream gives it. */
export type Request = WithoutId<Exclude<ViewerMessage, { readonly type: 'end' }>>;

/** What a subscription hears: messages of the server, and frames of series. */
export type LiveMessage = ServerMessage | { readonly type: 'series'; readonly id: number; readonly frame: SeriesFrame };

export type LiveHandler = (message: LiveMessage) => void;

/** `waiting`: the connection is lost, and another is made soon. */
export type LiveState = 'connecting' | 'open' | 'waiting' | 'closed';

export interface Subscription {
  /** Asks for something else, under the same number. */
  change(request: Request): void;
  end(): void;
}

export interface LiveOptions {
  /** Makes the connection. */
  readonly open: () => SocketLike;
  /** First and longest pause before a new connection, in milliseconds; each is about twice the one before. */
  readonly retry: { readonly firstMs: number; readonly maxMs: number };
}

const OPEN = 1;
const MOST_ID = 65_535;

/**
 * The live stream: one connection that many subscriptions share. If it breaks, another one is made, and all subscriptions
 * are made anew; their frames are then counted from 0 again.
 */
export class LiveStream {
  readonly #options: LiveOptions;
  readonly #subscriptions = new Map<number, { request: Request; readonly handler: LiveHandler }>();
  readonly #listeners = new Set<(state: LiveState) => void>();
  #socket: SocketLike | null = null;
  #state: LiveState = 'connecting';
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastId = 0;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#connect();
  }

  get state(): LiveState {
    return this.#state;
  }

  /** @returns ends it */
  onState(listener: (state: LiveState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * @param handler called with each message of this subscription; a frame's columns are its own
   * @throws RangeError if there are 65,535 subscriptions
   */
  subscribe(request: Request, handler: LiveHandler): Subscription {
    if (this.#subscriptions.size >= MOST_ID) throw new RangeError('too many subscriptions');
    do this.#lastId = (this.#lastId % MOST_ID) + 1;
    while (this.#subscriptions.has(this.#lastId));
    const id = this.#lastId;
    const subscription = { request, handler };
    this.#subscriptions.set(id, subscription);
    this.#send({ ...request, id } as ViewerMessage);
    return {
      change: (next) => {
        if (this.#subscriptions.get(id) !== subscription) return;
        subscription.request = next;
        this.#send({ ...next, id } as ViewerMessage);
      },
      end: () => {
        if (this.#subscriptions.get(id) !== subscription) return;
        this.#subscriptions.delete(id);
        this.#send({ type: 'end', id });
      },
    };
  }

  /** Ends the connection for good. */
  close(): void {
    clearTimeout(this.#timer);
    this.#subscriptions.clear();
    this.#enter('closed');
    this.#socket?.close();
  }

  #connect(): void {
    this.#enter('connecting');
    let socket: SocketLike;
    try {
      socket = this.#options.open();
    } catch {
      this.#retry();
      return;
    }
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', () => {
      if (this.#socket !== socket) return;
      this.#failures = 0;
      this.#enter('open');
      for (const [id, { request }] of this.#subscriptions) this.#send({ ...request, id } as ViewerMessage);
    });
    socket.addEventListener('message', ({ data }: { readonly data: unknown }) => this.#take(data));
    // An error is followed by the end.
    socket.addEventListener('error', () => {});
    socket.addEventListener('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      if (this.#state !== 'closed') this.#retry();
    });
  }

  #retry(): void {
    const { firstMs, maxMs } = this.#options.retry;
    const pause = Math.min(maxMs, firstMs * 2 ** this.#failures++) * (0.75 + Math.random() / 2);
    this.#enter('waiting');
    this.#timer = setTimeout(() => this.#connect(), pause);
  }

  #enter(state: LiveState): void {
    if (this.#state === 'closed' || this.#state === state) return;
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }

  #send(message: ViewerMessage): void {
    if (this.#socket?.readyState === OPEN) this.#socket.send(JSON.stringify(message));
  }

  #take(data: unknown): void {
    const message = messageOf(data);
    if (message === null || message.id === null) return;
    this.#subscriptions.get(message.id)?.handler(message);
  }
}

/** `null`: not of this protocol. */
function messageOf(data: unknown): LiveMessage | null {
  if (data instanceof ArrayBuffer) {
    const frame = decodeSeriesFrame(data);
    return frame === null ? null : { type: 'series', id: frame.id, frame };
  }
  if (typeof data !== 'string') return null;
  try {
    const message = JSON.parse(data) as LiveMessage | null;
    return typeof message === 'object' && message !== null && typeof message.type === 'string' ? message : null;
  } catch {
    return null;
  }
}
