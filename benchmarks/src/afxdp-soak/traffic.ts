/** Frames from end to end of the cable, and what became of each. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cable, RECEIVE_CORE } from '../afxdp/network.js';
import type { Sender } from '../afxdp/programs.js';
import type { Sample } from './collector.js';

/** The collector, in a process of its own. */
export class CollectorProcess {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  private constructor(command: readonly string[]) {
    this.#process = spawn('taskset', ['-c', String(RECEIVE_CORE), ...command]);
    this.#process.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** Starts it and waits until it can be sent frames. */
  static async start(command: readonly string[]): Promise<CollectorProcess> {
    const started = new CollectorProcess(command);
    await started.#line();
    return started;
  }

  async #line(): Promise<string> {
    const next = await this.#lines.next();
    if (next.done) throw new Error('the collector ended');
    return next.value;
  }

  async sample(): Promise<Sample> {
    this.#process.stdin.write('\n');
    return JSON.parse(await this.#line()) as Sample;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.stdin.end();
    await ended;
  }
}

/** Where all frames of a time went. Each is in one of these, or the sum is not `sent`. */
export interface Account {
  readonly sent: number;
  readonly received: number;
  /** Frames that found the cable's ring of 256 full: the sender's end counts them. */
  readonly cable: number;
  /** Frames that the kernel had no room for behind it. */
  readonly rxDropped: number;
  readonly rxRingFull: number;
  /** Frames that went to the IP stack. */
  readonly noSocket: number;
  /** What is left: 0. */
  readonly missing: number;
}

/** Frames that an end of the cable could not hand over, by its driver's counters. */
function lostInCable({ sendInterface }: Cable): number {
  const text = execFileSync('ethtool', ['-S', sendInterface], { encoding: 'utf8' });
  let lost = 0;
  for (const [, count] of text.matchAll(/^ *tx_queue_\d+_xdp_xmit_errors: (\d+)$/gm)) lost += Number(count);
  return lost;
}

/** Frames that are under way when the sender is done arrive in a moment. */
const QUIET_MS = 50;
const MOST_PAUSES = 100;

/** Sends frames to the collector and keeps the account of them. */
export class Traffic {
  readonly #cable: Cable;
  readonly #sender: Sender;
  readonly #collector: CollectorProcess;

  constructor(cable: Cable, sender: Sender, collector: CollectorProcess) {
    this.#cable = cable;
    this.#sender = sender;
    this.#collector = collector;
  }

  async send(frames: number, rate: number): Promise<void> {
    await this.#sender.send({ frames, rate, period: 1000 });
  }

  /** @returns what became of the frames of `run`, which tells how many it has sent */
  async account(run: () => Promise<number>): Promise<Account> {
    const before = await this.#settled();
    const cable = lostInCable(this.#cable);
    const sent = await run();
    const after = await this.#settled();
    const parts = {
      received: after.counted - before.counted,
      cable: lostInCable(this.#cable) - cable,
      rxDropped: after.rxDropped - before.rxDropped,
      rxRingFull: after.rxRingFull - before.rxRingFull,
      noSocket: after.noSocket - before.noSocket,
    };
    const missing = Object.values(parts).reduce((left, part) => left - part, sent);
    return { sent, ...parts, missing };
  }

  /** The collector's counters once nothing moves any more. */
  async #settled(): Promise<Sample> {
    let last = await this.#collector.sample();
    for (let pause = 0; pause < MOST_PAUSES; pause++) {
      await sleep(QUIET_MS);
      const now = await this.#collector.sample();
      if (now.received === last.received && now.counted === now.received) return now;
      last = now;
    }
    return last;
  }
}
