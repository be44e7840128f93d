import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { pathOf } from './access.js';
import { LiveStream } from './live-stream.js';
import type { Services, View } from './routes.js';
import { MOST_MESSAGE, Viewer } from './viewer.js';

/** Viewers at a time. */
const MOST_VIEWERS = 64;
const TICK_MS = 50;
/** Interval of signs of life: a viewer that gives none twice is gone. */
const PING_MS = 15_000;

/** The WebSockets: `/api/v1/live`, and `/api/v1/live?replay=ID`. */
export class LiveServer {
  readonly #services: Services;
  readonly #count: (code: string) => void;
  readonly #streams = new Map<View, LiveStream>();
  readonly #viewers = new Set<Viewer>();
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MOST_MESSAGE,
    clientTracking: false,
  });
  readonly #ticking: NodeJS.Timeout;
  readonly #pinging: NodeJS.Timeout;
  readonly #ended = { framesSent: 0, framesSkipped: 0 };

  /** @param count counts refusals by code */
  constructor(services: Services, count: (code: string) => void) {
    this.#services = services;
    this.#count = count;
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
    this.#pinging = setInterval(() => this.#ping(), PING_MS);
    this.#sockets.on('wsClientError', (error, socket) => {
      count('ERR_MESSAGE');
      refuse(socket, 400, 'Bad Request', 'ERR_MESSAGE', error.message);
    });
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  /** Whether somebody wants all reports of the live network. */
  get isTapped(): boolean {
    return this.#streams.get(this.#services.live)?.isTapped ?? false;
  }

  counts(): { readonly framesSent: number; readonly framesSkipped: number; readonly lagMs: number } {
    const all = { ...this.#ended, lagMs: this.#streams.get(this.#services.live)?.lagMs ?? 0 };
    for (const stream of this.#streams.values()) {
      const { framesSent, framesSkipped } = stream.counts();
      all.framesSent += framesSent;
      all.framesSkipped += framesSkipped;
    }
    return all;
  }

  /** The stream of a view, for whoever has new reports of it. */
  streamOf(view: View): LiveStream | null {
    return this.#streams.get(view) ?? null;
  }

  /** Takes a request whose name, origin and token are right. */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => {});
    if (pathOf(request) !== '/api/v1/live') {
      this.#turnAway(socket, 404, 'Not Found', 'ERR_NOT_FOUND', 'WebSockets are at /api/v1/live');
      return;
    }
    const id = new URL(request.url ?? '/', 'http://localhost').searchParams.get('replay');
    const view = id === null ? this.#services.live : this.#services.replays.get(id);
    if (view === undefined) {
      this.#turnAway(socket, 404, 'Not Found', 'ERR_NOT_FOUND', 'there is no such replay');
      return;
    }
    if (this.#viewers.size >= MOST_VIEWERS) {
      this.#turnAway(socket, 503, 'Service Unavailable', 'ERR_TOO_MANY', `at most ${MOST_VIEWERS} viewers`);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (opened) => {
      const viewer = new Viewer(opened, socket, this.#count);
      let stream = this.#streams.get(view);
      if (stream === undefined) {
        stream = new LiveStream(view, this.#services);
        this.#streams.set(view, stream);
      }
      stream.add(viewer);
      this.#viewers.add(viewer);
      opened.once('close', () => this.#left(viewer, view));
    });
  }

  close(): void {
    clearInterval(this.#ticking);
    clearInterval(this.#pinging);
    for (const viewer of this.#viewers) viewer.terminate();
    this.#sockets.close();
  }

  #left(viewer: Viewer, view: View): void {
    this.#viewers.delete(viewer);
    const stream = this.#streams.get(view);
    stream?.remove(viewer);
    if (stream === undefined || stream.viewers > 0 || view === this.#services.live) return;
    const { framesSent, framesSkipped } = stream.counts();
    this.#ended.framesSent += framesSent;
    this.#ended.framesSkipped += framesSkipped;
    this.#streams.delete(view);
  }

  #turnAway(socket: Duplex, status: number, text: string, code: string, message: string): void {
    this.#count(code);
    refuse(socket, status, text, code, message);
  }

  #tick(): void {
    const now = performance.now();
    for (const stream of this.#streams.values()) stream.tick(now);
  }

  #ping(): void {
    for (const viewer of this.#viewers) {
      if (!viewer.ping()) viewer.terminate();
    }
  }
}

/** Answers a request for a WebSocket with an error. */
function refuse(socket: Duplex, status: number, text: string, code: string, message: string): void {
  const body = `${JSON.stringify({ error: { code, message } })}\n`;
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
