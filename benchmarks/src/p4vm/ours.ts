/** Our switch as a contender: a process that makes a pass over a capture whenever it is asked. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onOneCore } from './one-core.js';

const PROGRAM = fileURLToPath(new URL('p4vm-contender.js', import.meta.url));

/** Nanoseconds a packet. */
export interface Pass {
  /** From memory, into nothing. */
  readonly alone: number;
  /** From a capture into captures, as the reference does it. */
  readonly files: number;
  /** Packets out for each one in. */
  readonly copies: number;
}

export class OurSwitch {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor(name: string, input: string, folder: string) {
    const [command, ...args] = onOneCore([process.execPath, PROGRAM, name, input, folder]);
    this.#process = spawn(command!, args);
    this.#process.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async pass(): Promise<Pass> {
    this.#process.stdin.write('\n');
    const next = await this.#lines.next();
    if (next.done) throw new Error('the switch ended');
    return JSON.parse(next.value) as Pass;
  }

  stop(): void {
    this.#process.stdin.end();
  }
}
