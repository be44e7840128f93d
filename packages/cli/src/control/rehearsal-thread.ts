/** Rehearsals on a thread of their own: a large one takes seconds, in which telemetry, sessions and signals have their turn. */
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Rehearsal, Rehearse, Twin } from '@int/control';
import type { ControlProgram } from './network.js';
import { type RehearsedSwitch, twinOf } from './rehearsal-programs.js';

/** What a thread is given: the network as it was read, and the programs of its switches. */
export interface RehearsalStart {
  readonly topologyFile: string;
  readonly programs: readonly ControlProgram[];
}

type Given = Parameters<Rehearse>;

/** A rehearsal to make. The topology is the thread's own. */
export interface RehearsalRequest {
  readonly id: number;
  /** By id. */
  readonly switches: ReadonlyMap<number, RehearsedSwitch>;
  readonly failedLinks: ReadonlySet<string>;
  readonly collector: Given[0]['collector'];
  readonly rest: readonly [Given[1], Given[2], Given[3], Given[4]];
}

export type RehearsalAnswer =
  | { readonly id: number; readonly rehearsal: Rehearsal }
  | { readonly id: number; readonly error: string };

const WORKER = /* @__PURE__ */ new URL('./rehearsal-worker.js', import.meta.url);

interface Waiting {
  readonly resolve: (rehearsal: Rehearsal) => void;
  readonly reject: (error: Error) => void;
}

/** A twin behind a thread. The thread begins with the first rehearsal, and anew after a fault. */
export class RehearsalThread {
  readonly #start: RehearsalStart;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #twin: Twin | null = null;
  #last = 0;

  constructor(start: RehearsalStart) {
    this.#start = start;
  }

  /** As `Twin.rehearse`. @throws Error (rejects) if the rehearsal failed, or the thread was ended */
  async rehearse(...[network, ...rest]: Given): Promise<Rehearsal> {
    // Run from sources, there is no built thread.
    if (!existsSync(WORKER)) {
      this.#twin ??= twinOf(this.#start.programs);
      return this.#twin.rehearse(network, ...rest);
    }
    const { failedLinks, collector } = network;
    const switches = new Map(Array.from(network.switches, ([id, { program, isUp }]) => [id, { program, isUp }]));
    const id = ++this.#last;
    const worker = this.#running();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, switches, failedLinks, collector, rest } satisfies RehearsalRequest);
    });
  }

  /** Ends the thread, in the middle of a rehearsal, too. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#failed(new Error('the controller ends'));
    await worker?.terminate();
  }

  #running(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(WORKER, { workerData: this.#start });
    this.#worker = worker;
    worker.on('message', (answer: RehearsalAnswer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ('error' in answer) waiting?.reject(new Error(answer.error));
      else waiting?.resolve(answer.rehearsal);
    });
    const ended = (error: Error): void => {
      if (this.#worker === worker) this.#failed(error);
    };
    worker.on('error', ended);
    worker.on('exit', (code) => ended(new Error(`the thread of the rehearsal ended with code ${code}`)));
    return worker;
  }

  /** Nothing that waits will be answered. */
  #failed(error: Error): void {
    this.#worker = null;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
