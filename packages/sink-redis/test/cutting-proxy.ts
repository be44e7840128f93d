import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { inTime } from '../../../.ci/test/until.js';

/** What happens to one connection. */
export interface Cut {
  /** Bytes that pass before. */
  readonly after: number;
  /**
   * `request`: the rest of what the client sends never reaches the server. `reply`: the rest of what the server answers
   * never reaches the client. `late`: as `request` for the client, but the server gets what had been sent, some time
   * later, when the client already has another connection.
   */
  readonly how: 'request' | 'reply' | 'late';
}

/**
 * Stands between a sink and a real server and breaks connections at exact places in the stream of bytes: the first
 * connection as the first cut says, and so on; connections beyond the list are left alone.
 */
export class CuttingProxy {
  readonly url: string;
  readonly #path: string;
  readonly #target: string;
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();
  #cuts: readonly Cut[] = [];
  #next = 0;

  /** @param target socket of the server; the proxy's own lies in `folder` */
  constructor(target: string, folder: string) {
    this.#target = target;
    this.#path = join(folder, 'p');
    this.url = `unix://${this.#path}`;
  }

  async start(): Promise<void> {
    this.#server = createServer((client) => this.#serve(client)).listen(this.#path);
    await inTime('the socket of the proxy', once(this.#server, 'listening'));
  }

  /** Sets what happens to the next connections. */
  plan(cuts: readonly Cut[]): void {
    this.#cuts = cuts;
    this.#next = 0;
  }

  /** Cuts of the plan that have found a connection. */
  get used(): number {
    return Math.min(this.#next, this.#cuts.length);
  }

  #serve(client: Socket): void {
    const cut = this.#cuts[this.#next++];
    const server = createConnection(this.#target);
    const isReply = cut?.how === 'reply';
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    const sever = (held: Buffer): void => {
      client.destroy();
      if (cut?.how !== 'late') {
        server.destroy();
        return;
      }
      setTimeout(() => {
        // What the server answers finds nobody.
        server.end(held);
        server.resume();
      }, 15);
    };
    let passed = 0;
    const pipe = (from: Socket, to: Socket, isLimited: boolean): void => {
      from.on('data', (chunk) => {
        if (client.destroyed) return;
        const rest = cut === undefined || !isLimited ? Number.POSITIVE_INFINITY : cut.after - passed;
        passed += isLimited ? chunk.length : 0;
        if (chunk.length < rest) {
          to.write(chunk);
        } else {
          to.write(chunk.subarray(0, rest));
          sever(chunk.subarray(rest));
        }
      });
      from.on('close', () => {
        if (cut?.how !== 'late' || from === server) to.destroy();
      });
    };
    pipe(client, server, !isReply);
    pipe(server, client, isReply);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server?.close();
    if (this.#server !== undefined) await inTime('the end of the proxy', once(this.#server, 'close'));
  }
}
