import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { inTime, until } from '../../../../.ci/test/until.js';

const MONITOR: string = fileURLToPath(new URL('../dist/monitor.js', import.meta.url));

/** What the monitor prints at its end, as far as tests look at it. */
export interface Summary {
  readonly frames: { readonly received: number; readonly reports: number };
  readonly flows: {
    readonly inserted: number;
    readonly events: number;
    readonly lostEvents: number;
    readonly lostEntries: number;
  };
  readonly written: {
    readonly entries: number;
    readonly events: number;
    readonly redis: null | {
      readonly events: { readonly delivered: number; readonly dropped: Readonly<Record<string, number>> };
      readonly entries: { readonly delivered: number; readonly dropped: Readonly<Record<string, number>> };
    };
  };
  readonly losses: Readonly<Record<string, number>>;
  readonly balanced: boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The monitor in a process of its own. */
export class Program {
  readonly #process: ChildProcessByStdio<null, Readable, Readable>;
  readonly #ended: Promise<Ended>;
  #out = '';
  #err = '';

  constructor(...args: readonly string[]) {
    this.#process = spawn(process.execPath, [MONITOR, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text;
    });
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#err += text;
    });
    this.#ended = once(this.#process, 'close').then(([code]) => ({
      code: code as number | null,
      out: this.#out,
      err: this.#err,
    }));
  }

  /** Waits until it has said something on standard error. */
  said(pattern: RegExp): Promise<RegExpExecArray> {
    const look = (): RegExpExecArray | null => {
      const found = pattern.exec(this.#err);
      const { exitCode, signalCode } = this.#process;
      if (found === null && (exitCode !== null || signalCode !== null)) {
        throw new Error(`it has ended without ${pattern}: ${this.#err}`);
      }
      return found;
    };
    return until(`${pattern} of the monitor`, look, { found: () => this.#err });
  }

  ended(): Promise<Ended> {
    return inTime('the end of the monitor', this.#ended, { found: () => this.#out + this.#err });
  }

  /** Asks it to stop, and reads its summary. */
  async stop(): Promise<Summary> {
    this.#process.kill('SIGTERM');
    const { out, err } = await this.ended();
    const line = out.trim().split('\n').at(-1);
    if (line === undefined || !line.startsWith('{')) throw new Error(`there is no summary: ${out}${err}`);
    return JSON.parse(line) as Summary;
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }
}

/** What orders are answered with, as far as tests look at it. */
export interface Answer {
  readonly flows: { readonly offered: number; readonly events: number };
  readonly endToEnd: { readonly values: number };
  readonly switches: object;
}

/** An order at the Unix socket of a monitor, or at its port. Refusals that are no JSON have an empty answer. */
export async function order(
  at: string | number,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: Answer }> {
  const where = typeof at === 'string' ? { socketPath: at } : { host: '127.0.0.1', port: at };
  const asked = request({ ...where, method, path, headers });
  asked.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await inTime(`an answer to ${path}`, once(asked, 'response'))) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string;
  const isJson = response.headers['content-type'] === 'application/json';
  return { status: response.statusCode!, body: (isJson ? JSON.parse(text) : {}) as Answer };
}
