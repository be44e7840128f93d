import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { requires } from '../../../.ci/test/requires.js';
import { inTime, until } from '../../../.ci/test/until.js';
import type { End, PairOptions, VethPair } from '../../../.ci/test/veth-pair.js';
import { addon } from '../addon.js';
import { pairFor } from '../pair.js';
import { type Program, start } from '../program.js';
import type { Ends } from './ends.program.js';

const ENDS = new URL('ends.program.ts', import.meta.url);
const BIN = fileURLToPath(new URL('../../../packages/cli/bin/int.js', import.meta.url));

function ipCommand(): string {
  return requires('ip', 'npm run setup:system');
}

/** Interfaces of the bridge. */
export const IN = 'right0';
export const OUT = 'left0';

/** Three namespaces in a row: where packets come from, the bridge, where they go. */
export class Wire {
  readonly source: End;
  readonly destination: End;
  /** The bridge's own, with the interfaces {@link IN} and {@link OUT}, which have no addresses. */
  readonly middle: End;
  readonly #first: VethPair;

  /** Makes them for the running test, which is skipped where that cannot be. */
  static async make(options: PairOptions = {}): Promise<Wire> {
    const first = await pairFor(options);
    const second = await pairFor(options);
    return new Wire(first, second);
  }

  private constructor(first: VethPair, second: VethPair) {
    this.#first = first;
    this.source = first.left;
    this.middle = first.right;
    this.destination = second.right;
    first.ip(this.middle, 'address', 'flush', 'dev', IN);
    second.ip(second.left, 'link', 'set', OUT, 'netns', this.middle.namespace);
    first.ip(this.middle, 'link', 'set', OUT, 'up');
    // What the ends make themselves has no checksums yet, which a wire would have.
    for (const end of [this.source, this.destination]) this.#offload(end, 'tx', 'off');
  }

  #offload(end: End, ...settings: string[]): void {
    const command = requires('ethtool', 'npm run setup:system');
    this.run(end, command, '-K', end.interface, ...settings);
  }

  /** Runs a command in the namespace of an end. @throws Error with what it says */
  run(end: End, ...command: string[]): string {
    const { status, stdout, stderr } = spawnSync(ipCommand(), ['netns', 'exec', end.namespace, ...command], {
      encoding: 'utf8',
      timeout: 30_000,
    });
    if (status !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** Whether an XDP program is attached to an interface of the bridge, and whether it is promiscuous. */
  state(name: string): { attached: boolean; promiscuous: boolean } {
    const [link] = JSON.parse(this.#first.ip(this.middle, '-j', '-d', 'link', 'show', 'dev', name)) as {
      xdp?: object;
      promiscuity: number;
    }[];
    return { attached: link!.xdp !== undefined, promiscuous: link!.promiscuity > 0 };
  }

  /** A program at an end. */
  end(which: End): Promise<Program<Ends>> {
    return start<Ends>(ENDS, { at: which });
  }

  /** Sets an interface of the bridge up or down. */
  setInterface(name: string, state: 'up' | 'down'): void {
    this.#first.ip(this.middle, 'link', 'set', name, state);
  }

  /** Removes an interface of the bridge, and its other end with it. */
  removeInterface(name: string): void {
    this.#first.ip(this.middle, 'link', 'delete', name);
  }

  /** Makes an interface that was removed again, with its other end, which programs there have to open anew. */
  remakeInterface(name: string): void {
    const end = name === IN ? this.source : this.destination;
    const peer = `${end.interface} address ${end.mac} netns ${end.namespace}`;
    this.#first.ip(this.middle, ...`link add ${name} type veth peer name ${peer}`.split(' '));
    this.#first.ip(end, 'link', 'set', end.interface, 'up');
    this.setInterface(name, 'up');
  }

  /** Starts `int bridge` with these arguments; it ends with the test. */
  bridge(...args: string[]): Command {
    const command = new Command(this.middle, ['bridge', ...args]);
    onTestFinished(() => command.kill());
    return command;
  }
}

/** The `int` command, as it is installed, in a namespace. */
export class Command {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor(at: End, args: readonly string[]) {
    if (!existsSync(fileURLToPath(new URL('../dist/index.js', `file://${BIN}`))))
      throw new Error('run the build first');
    this.#child = spawn(ipCommand(), ['netns', 'exec', at.namespace, process.execPath, BIN, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, INT_AFXDP_ADDON: addon(), NODE_OPTIONS: '' },
    });
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
  }

  /** Waits until something holds. @throws Error if the command ends before */
  async until(holds: () => boolean): Promise<void> {
    const look = (): boolean => {
      if (holds()) return true;
      const { exitCode, signalCode } = this.#child;
      if (exitCode === null && signalCode === null) return false;
      throw new Error(`${exitCode ?? signalCode}\n${this.stderr}\n${this.stdout}`);
    };
    await until(`${holds} of the command`, look, { everyMs: 10, found: () => this.stdout + this.stderr });
  }

  /** Waits until it forwards. */
  async bridging(): Promise<void> {
    await this.until(() => this.stderr.includes('bridging'));
  }

  /** Ends it as Ctrl-C does. @returns its exit code */
  async interrupt(): Promise<number | null> {
    // `ip netns exec` becomes the command: the signal reaches it.
    this.#child.kill('SIGINT');
    return this.ended();
  }

  /** Sends any other signal. */
  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  ended(): Promise<number | null> {
    return inTime('the end of the command', this.#ended, { found: () => this.stdout + this.stderr });
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended();
  }

  /** The whole lines of `--json` of one type. */
  lines(type: string): Record<string, unknown>[] {
    const all = this.stdout.split('\n').slice(0, -1);
    return all.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line.type === type);
  }
}
