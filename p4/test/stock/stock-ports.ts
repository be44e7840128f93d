import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { inTime } from '../../../.ci/test/until.js';

const SCRIPT = fileURLToPath(new URL('veth_ports.py', import.meta.url));
const ANSWER_MS = 90_000;
const END_MS = 20_000;

/** A frame, and the port by which it came. */
export interface PortFrame {
  readonly port: number;
  readonly hex: string;
}

/** A switch in a network namespace of its own, with a virtual cable at each port. It ends with `close`. */
export class StockPorts {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #complaints = '';

  /**
   * @param command starts the switch; its interfaces are `swN`
   * @param quietMs after which no more is expected of a packet
   */
  constructor(python: string, ports: readonly number[], command: readonly string[], quietMs: number) {
    const own = process.getuid?.() === 0 ? ['-n'] : ['-rn'];
    const args = [...own, '--kill-child', python, SCRIPT, ports.join(), String(quietMs), ...command];
    this.#child = spawn('unshare', args);
    this.#child.stderr.on('data', (data) => {
      this.#complaints = `${this.#complaints}${data}`.slice(-4000);
    });
    this.#child.stdin.on('error', () => {});
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async #ask(line: string): Promise<string[]> {
    this.#child.stdin.write(`${line}\n`);
    const said: string[] = [];
    const answer = async (): Promise<string[]> => {
      for (;;) {
        const { value, done } = await this.#lines.next();
        if (done === true) throw new Error(`the ports are gone: ${this.#complaints}`);
        if (value === '.') return said;
        said.push(value);
      }
    };
    return inTime('an answer of the ports', answer(), { withinMs: ANSWER_MS, found: () => this.#complaints });
  }

  /** Sends a packet, and waits for all that comes of it. */
  async send(port: number, frame: Uint8Array): Promise<PortFrame[]> {
    const lines = await this.#ask(`${port} ${Buffer.from(frame).toString('hex')}`);
    return lines.map((line) => {
      const [from = '', hex = ''] = line.split(' ');
      if (from === '=') throw new Error(`${line.slice(2)}: ${this.#complaints}`);
      return { port: Number(from), hex };
    });
  }

  /** Gives a program, in the same namespace, lines of input; what it says, and its exit code. */
  async run(command: readonly string[], input: string): Promise<{ said: string[]; status: number }> {
    const lines = (await this.#ask(`! ${Buffer.from(input).toString('hex')} ${command.join(' ')}`)).map((each) =>
      each.slice(2),
    );
    return { said: lines.slice(0, -1), status: Number(lines.at(-1)?.split(' ')[1]) };
  }

  async close(): Promise<void> {
    const ended: Promise<unknown> = this.#child.exitCode === null ? once(this.#child, 'exit') : Promise.resolve();
    this.#child.stdin.end();
    await inTime('the end of the ports', ended, { withinMs: END_MS, inVain: () => this.#child.kill('SIGKILL') });
  }
}
