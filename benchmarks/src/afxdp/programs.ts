/** Receivers and the sender, as processes. */
import { type ChildProcessWithoutNullStreams, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Cable, processNs, RECEIVE_CORE, SEND_CORE } from './network.js';
import { COMMON, LATENCY, type Template, templateOf } from './template.js';
import type { Done } from './work.js';

/** The bundle lies in benchmarks/dist. */
const NATIVE = fileURLToPath(new URL('../native/', import.meta.url));
const AFXDP = fileURLToPath(new URL('../../native-afxdp/', import.meta.url));
const BUILD = `${NATIVE}build/`;
const ADDON = `${AFXDP}prebuilds/linux-${process.arch}/afxdp.node`;

/** Builds the C programs and the addon; returns the compiler's name and version, or what is missing. */
export function buildPrograms(): { compiler: string } | { missing: string } {
  const compiler = process.env.CC ?? 'cc';
  const version = spawnSync(compiler, ['--version'], { encoding: 'utf8' });
  if (version.status !== 0) return { missing: `no C compiler (${compiler})` };
  execFileSync('make', ['-s', '-C', NATIVE, 'receivers'], { stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync('make', ['-s', '-C', AFXDP, 'addon'], { stdio: ['ignore', 'ignore', 'inherit'] });
  // The bundle is not where @int/afxdp looks from; receivers inherit it.
  process.env.INT_AFXDP_ADDON = ADDON;
  return { compiler: version.stdout.split('\n')[0]! };
}

/** A way to receive: a program, and what it does with frames is its last argument. */
export interface Contender {
  readonly name: string;
  /** Contenders of a group are sent frames at one rate. */
  readonly group: string;
  readonly command: readonly string[];
}

export function nativeContender(name: string, group: string, program: string, ...args: readonly string[]): Contender {
  return { name, group, command: [`${BUILD}${program}`, ...args] };
}

export function nodeContender(name: string, group: string, program: string, ...args: readonly string[]): Contender {
  const path = fileURLToPath(new URL(`${program}.js`, import.meta.url));
  return { name, group, command: [process.execPath, path, ...args] };
}

/** What a receiver says when it is asked. */
export interface Answer extends Done {
  /** Frames that the kernel had no room for in front of the receiver. */
  readonly dropped: number;
  /** Processor time of the receiver so far; the shares are right, the system's clock for the sum is coarse. */
  readonly userNs: number;
  readonly systemNs: number;
  /** Of a filter: reports that it has seen, and those of them that it passed on. */
  readonly filter?: { readonly reports: number; readonly events: number };
}

export class Receiver {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  private constructor(command: readonly string[]) {
    const [program, ...args] = ['taskset', '-c', String(RECEIVE_CORE), ...command];
    this.#process = spawn(program!, args);
    this.#process.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** Starts a receiver and waits until it can be sent frames. */
  static async start(contender: Contender, work: string): Promise<Receiver> {
    const receiver = new Receiver([...contender.command, work]);
    await receiver.#line();
    return receiver;
  }

  async #line(): Promise<string> {
    const next = await this.#lines.next();
    if (next.done) throw new Error('a receiver ended');
    return next.value;
  }

  async answer(): Promise<Answer> {
    this.#process.stdin.write('\n');
    return JSON.parse(await this.#line()) as Answer;
  }

  /** Nanoseconds that all its threads have run. */
  ranNs(): number {
    return processNs(this.#process.pid!);
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.stdin.end();
    await ended;
  }
}

/** How frames are sent. */
export interface Sending {
  readonly frames: number;
  /** Frames a second; 0: as fast as they go. */
  readonly rate: number;
  /** After how many frames of a path its value changes, and so has an event; 0: never. */
  readonly period?: number;
}

const runFile = promisify(execFile);

export class Sender {
  readonly #cable: Cable;
  readonly #file: string;
  #template: Template | undefined;
  #next = 0;

  constructor(cable: Cable, folder: string) {
    this.#cable = cable;
    this.#file = `${folder}/frame`;
  }

  use(template: Template): void {
    this.#template = template;
    writeFileSync(this.#file, template.frame);
  }

  /** Tries to send. @returns why the kernel does not let us; undefined if it does */
  async refusal(): Promise<string | undefined> {
    this.use(templateOf(COMMON, this.#cable));
    try {
      await this.send({ frames: 1, rate: 0 });
      return undefined;
    } catch (error) {
      const { stderr = '' } = error as { stderr?: string };
      return `${stderr.trim()} (live frames need Linux 5.18)`;
    }
  }

  /** Sends frames, numbered on from the last ones. */
  async send({ frames, rate, period = 0 }: Sending): Promise<void> {
    const { sequence, port, stack, hops, words, node, value } = this.#template!;
    const options = {
      count: frames,
      start: this.#next,
      pps: Math.round(rate),
      sequence,
      port,
      stack,
      hops,
      words,
      node,
      value,
      period,
      low: LATENCY.low,
      high: LATENCY.high,
    };
    this.#next += frames;
    const args = Object.entries(options).map(([key, each]) => `${key}=${each}`);
    const command = ['-c', String(SEND_CORE), `${BUILD}live_send`, this.#cable.sendInterface, this.#file, ...args];
    await runFile('taskset', command);
  }
}
