import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { inTime } from '../../../.ci/test/until.js';

/** What the double has been asked. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Ids of a bulk request, in order. */
  readonly ids: readonly string[];
}

/** What it does with the next request: `null`: as a server that is well. */
export type Behaviour =
  | null
  | { readonly status: number; readonly body?: unknown; readonly text?: string }
  /** Stores, and breaks the connection before the answer. */
  | 'lose answer'
  | 'reset'
  | 'hang'
  /** The status of each record, by its place; 201 stores it. */
  | ((ids: readonly string[]) => readonly number[]);

/**
 * A double of the bulk interface over HTTP, strict about what it is sent: for failures that a real server cannot be brought
 * to. What is stored, how and under which mapping, is tested with a real server.
 */
export class BulkDouble {
  readonly asked: Asked[] = [];
  /** Documents by index and id. */
  readonly stored = new Map<string, Readonly<Record<string, unknown>>>();
  /** Records stored twice, which must not be. */
  repeats = 0;
  /** What it does with each bulk request, first one first; then it is well. */
  next: Behaviour[] = [];
  /** As long as it is set, what it does with every bulk request. */
  always: Behaviour = null;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(port = 0): Promise<BulkDouble> {
    const server = createServer();
    const double = new BulkDouble(server);
    server.on('request', (request, response) => void double.#take(request, response));
    server.listen(port, '127.0.0.1');
    await inTime('a TCP port', once(server, 'listening'));
    return double;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get bulks(): readonly Asked[] {
    return this.asked.filter(({ path }) => path.startsWith('/_bulk'));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method = '', url: path = '', headers } = request;
    const isBulk = path.startsWith('/_bulk');
    const records = isBulk ? readBulk(headers, body) : [];
    const ids = records.map(({ id }) => id);
    this.asked.push({ method, path, headers, ids });
    const behaviour = isBulk ? (this.next.shift() ?? this.always) : null;
    const say = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof value === 'string' ? value : JSON.stringify(value));
    };
    if (behaviour === 'hang') return;
    if (behaviour === 'reset') {
      request.socket.destroy();
      return;
    }
    if (!isBulk) {
      say(method === 'GET' ? 404 : 200, {});
      return;
    }
    if (behaviour !== null && typeof behaviour === 'object') {
      say(
        behaviour.status,
        behaviour.text ?? behaviour.body ?? { error: { type: 'some_exception', reason: 'scripted' } },
      );
      return;
    }
    const statuses = typeof behaviour === 'function' ? behaviour(ids) : ids.map(() => 201);
    const items = records.map((record, index) => {
      const status = statuses[index]!;
      if (status !== 201) return { create: { status, error: { type: `type_${status}`, reason: `reason ${status}` } } };
      return { create: { status: this.#store(record) } };
    });
    if (behaviour === 'lose answer') request.socket.destroy();
    else say(200, { items });
  }

  #store({ index, id, document }: BulkRecord): number {
    const key = `${index}/${id}`;
    if (this.stored.has(key)) {
      this.repeats += 1;
      return 409;
    }
    this.stored.set(key, document);
    return 201;
  }
}

interface BulkRecord {
  readonly index: string;
  readonly id: string;
  readonly document: Readonly<Record<string, unknown>>;
}

/** @throws Error for anything that is not an action `create` and a document, each in a line that ends */
function readBulk(headers: IncomingMessage['headers'], body: Buffer): BulkRecord[] {
  if (headers['content-type'] !== 'application/x-ndjson') throw new Error('not NDJSON');
  const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString('utf8');
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const lines = text.slice(0, -1).split('\n');
  if (lines.length % 2 !== 0) throw new Error('an action without a document');
  const records: BulkRecord[] = [];
  for (let line = 0; line < lines.length; line += 2) {
    const action = JSON.parse(lines[line]!) as { create: { _index: string; _id: string } };
    const { create } = action;
    if (Object.keys(action).length !== 1 || Object.keys(create).length !== 2) throw new Error(`action: ${lines[line]}`);
    if (!/^[a-z0-9][a-z0-9._-]*$/.test(create._index)) throw new Error(`index: ${create._index}`);
    const document = JSON.parse(lines[line + 1]!) as BulkRecord['document'];
    if (document.id !== create._id) throw new Error(`ids: ${create._id}, ${String(document.id)}`);
    records.push({ index: create._index, id: create._id, document });
  }
  return records;
}
