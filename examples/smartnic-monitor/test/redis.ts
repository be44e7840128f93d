import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { requires } from '../../../.ci/test/requires.js';

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
    for (let tries = 0; tries < 500; tries++) {
      await sleep(20);
      try {
        if (this.ask('PING') === 'PONG') return;
      } catch {
        // Not yet there.
      }
    }
    throw new Error('redis-server does not answer');
  }

  async kill(): Promise<void> {
    const ended = once(this.#process!, 'exit');
    this.#process!.kill('SIGKILL');
    await ended;
    this.#process = undefined;
  }

  /** What a command answers, as redis-cli prints it for programs. */
  ask(...command: readonly string[]): string {
    const answer = execFileSync('redis-cli', ['-s', this.#socket, ...command], { encoding: 'utf8', stdio: 'pipe' });
    return answer.trim();
  }

  async dispose(): Promise<void> {
    if (this.#process !== undefined) await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
