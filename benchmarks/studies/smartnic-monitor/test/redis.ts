import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requires } from '../../../../.ci/test/requires.js';
import { inTime, until } from '../../../../.ci/test/until.js';

/** A real Redis server in a folder of its own, which keeps all that it has acknowledged. */
export class Redis {
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'int-monitor-'));
  readonly #socket: string = join(this.#folder, 's');
  readonly #program: string = requires('redis-server', 'apt-get install redis-server, or npm run setup:system');
  #process: ChildProcess | undefined;

  get url(): string {
    return `unix://${this.#socket}`;
  }

  async start(): Promise<void> {
    const place = ['--port', '0', '--unixsocket', this.#socket, '--dir', this.#folder, '--save', ''];
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
    this.#process = spawn(this.#program, [...place, ...durable], { stdio: 'ignore' });
    const isThere = (): boolean => {
      try {
        return this.ask('PING') === 'PONG';
      } catch {
        return false;
      }
    };
    await until('an answer of redis-server', isThere, { everyMs: 20 });
  }

  async kill(): Promise<void> {
    const ended = once(this.#process!, 'exit');
    this.#process!.kill('SIGKILL');
    await inTime('the end of redis-server', ended);
    this.#process = undefined;
  }

  /** What a command answers, as redis-cli prints it for programs. */
  ask(...command: readonly string[]): string {
    const options = { encoding: 'utf8', stdio: 'pipe', timeout: 20_000 } as const;
    return execFileSync('redis-cli', ['-s', this.#socket, ...command], options).trim();
  }

  async dispose(): Promise<void> {
    if (this.#process !== undefined) await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
