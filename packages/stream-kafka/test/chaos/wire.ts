import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Way } from './way.js';

const HOST = '127.0.0.1';

/** TCP connections through a port of its own. A cut ends them, and all that are tried: both sides hear of it at once. */
export class Wire implements Way {
  readonly listenAddress = HOST;
  readonly reportsAddress = HOST;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;
  #target = 0;

  private constructor() {
    this.#server = createServer((near) => {
      if (this.#isCut) {
        near.destroy();
        return;
      }
      const far = connect(this.#target, HOST);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one);
        one.on('error', () => {});
        one.on('close', () => {
          this.#sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
  }

  static async open(): Promise<Wire> {
    const wire = new Wire();
    wire.#server.listen(0, HOST);
    await once(wire.#server, 'listening');
    return wire;
  }

  get advertisedPort(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  leadTo(port: number): string {
    this.#target = port;
    return `${HOST}:${this.advertisedPort}`;
  }

  at(program: readonly string[]): readonly string[] {
    return program;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
