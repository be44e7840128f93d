import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { VethPair } from '../../../.ci/test/veth-pair.js';
import { startTraffic } from '../pair.js';
import { bundle, type Program, start } from '../program.js';
import type { Traffic } from '../traffic.program.js';
import type { Received, Sourcing } from './source.program.js';

const WORKER: URL = new URL('../../src/source/worker.ts', import.meta.url);
export const FAILING_WORKER: URL = new URL('../internals/source/failing-worker.program.ts', import.meta.url);
const PROGRAM = new URL('source.program.ts', import.meta.url);

/** Frames that are sent at a time: no queue on the way is shorter. */
const WINDOW = 64;
const PAUSE_MS = 4;

/** The program that receives, at the right end. */
export function startSource(pair: VethPair): Promise<Program<Sourcing>> {
  return start<Sourcing>(PROGRAM, { at: pair.right });
}

/** The code of the threads. */
export function worker(file: URL = WORKER): Promise<string> {
  return bundle(file);
}

/** Programs at the left end that send reports, one to each queue in turns. */
export class Senders {
  readonly #pair: VethPair;
  readonly #programs: readonly Program<Traffic>[];
  #sent: number;
  #before = 0;

  /** @param from number of the first report */
  static async start(pair: VethPair, queues = 1, from = 0): Promise<Senders> {
    const programs: Program<Traffic>[] = [];
    for (let queue = 0; queue < queues; queue++) {
      const program = await startTraffic({ at: pair.left });
      await program.call('open', { interface: pair.left.interface, queue, ports: [], frames: 64, txFrames: 128 });
      programs.push(program);
    }
    return new Senders(pair, programs, from);
  }

  private constructor(pair: VethPair, programs: readonly Program<Traffic>[], from: number) {
    this.#sent = from;
    this.#pair = pair;
    this.#programs = programs;
  }

  /** Reports sent so far: as many numbers, from 0 on. */
  get sent(): number {
    return this.#sent;
  }

  /** Reports sent, without those that the virtual cable has lost: on a busy machine it may, if nobody waits for the receiver. */
  get arrived(): number {
    return this.#sent - this.#pair.counters(this.#pair.left).tx_dropped;
  }

  /**
   * Sends the next reports, as fast as they arrive.
   * @param receiver counts what has arrived; without, there is a pause after each few
   */
  async send(count: number, receiver?: Program<Sourcing>): Promise<void> {
    const end = this.#sent + count;
    for (let turn = 0; this.#sent < end; turn++) {
      const next = Math.min(end, this.#sent + WINDOW);
      await this.#programs[turn % this.#programs.length]!.call('blast', this.#sent, next);
      this.#sent = next;
      if (receiver === undefined) await sleep(PAUSE_MS);
      else await receiver.call('until', this.#sent - this.#before - WINDOW);
    }
  }

  /** From now on there is a receiver that has counted nothing yet. */
  begin(): void {
    this.#before = this.#sent;
  }
}

/** All that was sent has been received, and says what was sent. */
export function expectAll(received: Received, sent: number): void {
  expect(received.problems).toEqual([]);
  expect(received).toMatchObject({ right: sent, wrong: 0, duplicates: 0, oddTimes: 0 });
  expect(received.totals).toMatchObject({ received: sent, decoded: sent, reports: sent, kernelDropped: 0 });
  expect(received.statistics).toMatchObject({ received: sent, rxDropped: 0, rxRingFull: 0, noSocket: 0 });
}
