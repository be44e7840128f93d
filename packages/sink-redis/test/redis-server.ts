import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type RedisClientType } from '@redis/client';
import { requires } from '../../../.ci/test/requires.js';
import { inTime, until } from '../../../.ci/test/until.js';

export type Client = RedisClientType<Record<string, never>, Record<string, never>, Record<string, never>, 2>;

/** All servers and clients that a test has not stopped itself. */
const running = new Set<RedisServer>();

/** Stops every server started since the last call; for `afterEach`. */
export async function stopServers(): Promise<void> {
  await Promise.all([...running].map((server) => server.dispose()));
}

/** A real Redis server in a folder of its own, on a Unix socket; killed and started again at will. */
export class RedisServer {
  // First, so that a test that is skipped leaves no folder.
  readonly #program: string = requires('redis-server', 'apt-get install redis-server, or npm run setup:system');
  readonly folder: string = mkdtempSync(join(tmpdir(), 'int-redis-'));
  readonly socket: string = join(this.folder, 's');
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;
  #clients: Client[] = [];

  /** @param settings as on the command line, such as `--appendonly yes` */
  constructor(...settings: readonly string[]) {
    this.#settings = settings;
    running.add(this);
  }

  static async start(...settings: readonly string[]): Promise<RedisServer> {
    const server = new RedisServer(...settings);
    await server.start();
    return server;
  }

  get url(): string {
    return `unix://${this.socket}`;
  }

  /** Starts it and waits until it accepts connections, or, with `isReady` false, not even that. */
  async start(isReady = true, ...more: readonly string[]): Promise<void> {
    this.#repair();
    const fixed = ['--port', '0', '--unixsocket', this.socket, '--dir', this.folder, '--save', ''];
    this.#process = spawn(this.#program, [...fixed, ...this.#settings, ...more], { stdio: 'ignore' });
    if (!isReady) return;
    const isThere = async (): Promise<boolean> => {
      try {
        const client = await this.#connect({});
        client.destroy();
        return true;
      } catch (error) {
        // A server that asks for a password is there, too.
        return /NOAUTH|WRONGPASS/.test(String(error));
      }
    };
    await until('redis-server', isThere, { everyMs: 10 });
  }

  /**
   * Cuts a transaction off that the end of the process has left half written in the file of commands. The server itself cuts
   * behind the last whole command of it: the rest of that transaction would be applied at the next start but one, together
   * with the next one (seen with Redis 7.0; Valkey's pull request 4342 is about the same).
   */
  #repair(): void {
    const manifest = join(this.folder, 'appendonlydir', 'appendonly.aof.manifest');
    if (!existsSync(manifest)) return;
    const check = requires('redis-check-aof', 'apt-get install redis-tools, or npm run setup:system');
    const { status, stdout } = spawnSync(check, ['--fix', manifest], {
      input: 'y\n',
      encoding: 'utf8',
      timeout: 30_000,
    });
    if (status !== 0) throw new Error(`redis-check-aof: ${stdout}`);
  }

  async #connect(credentials: { password?: string; username?: string }): Promise<Client> {
    const client: Client = createClient({
      ...credentials,
      RESP: 2,
      disableOfflineQueue: true,
      maintNotifications: 'disabled',
      commandOptions: { timeout: 0 },
      socket: { path: this.socket, tls: false, reconnectStrategy: false },
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.sendCommand(['PING']);
    } catch (error) {
      client.destroy();
      throw error;
    }
    return client;
  }

  /** A connection of the test's own. */
  async client(credentials: { password?: string; username?: string } = {}): Promise<Client> {
    const client = await this.#connect(credentials);
    this.#clients.push(client);
    return client;
  }

  /** Ends the process without a chance to save anything, as SIGKILL does. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const over = once(child, 'exit');
    child.kill('SIGKILL');
    await inTime('the end of redis-server', over);
  }

  /** Stops the process without ending it, and lets it go on. */
  freeze(isFrozen: boolean): void {
    this.#process?.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT');
  }

  /** Stops a script that occupies the server; only a connection that asks nothing else can. */
  async killScript(): Promise<void> {
    const socket = createConnection(this.socket);
    socket.write('SCRIPT KILL\r\n');
    await inTime('an answer to SCRIPT KILL', once(socket, 'data'));
    socket.destroy();
  }

  async dispose(): Promise<void> {
    running.delete(this);
    for (const client of this.#clients) client.destroy();
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
