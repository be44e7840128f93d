/** A queue that a thread of its own reads, as the thread of the pipeline sees it. */
import { Worker } from 'node:worker_threads';
import { errorOf, type WorkerMessage, type WorkerSetup } from './protocol.js';
import { COMMAND, CONTROL, type Figures, QueueMemory, type Slot } from './queue-memory.js';
import type { Shard } from './shard.js';

/** How long a thread that has been told to end may take. */
const END_LIMIT_MS = 1000;

type Ready = Extract<WorkerMessage, { name: 'ready' }>;

export class WorkerShard implements Shard {
  readonly queue: number;
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #memory!: QueueMemory;
  #ready!: Ready;
  #failure: unknown = null;
  #hasEnded = false;
  /** Batches taken and given back, as 32-bit integers that run over, and the next slot of each. */
  #taken = 0;
  #freed = 0;
  #toTake = 0;
  #toFree = 0;
  /** Slots that came back before one that was taken earlier. */
  readonly #isBack: boolean[] = [];

  /**
   * Starts the thread and waits until it has its socket.
   * @throws XdpError (rejects) if the socket cannot be opened; Error if the thread cannot be started
   */
  static async open(setup: WorkerSetup, file: string | URL): Promise<WorkerShard> {
    const shard = new WorkerShard(setup, file);
    await shard.#start();
    return shard;
  }

  private constructor(setup: WorkerSetup, file: string | URL) {
    this.queue = setup.queue;
    // Not the options of this process: `--input-type` is for its own program only, and no loader is needed.
    this.#worker = new Worker(file, { workerData: setup, execArgv: [] });
    this.#worker.on('error', (error) => {
      this.#failure ??= error;
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#hasEnded = true;
        if (this.#ready === undefined || Atomics.load(this.#memory.control, CONTROL.DONE) === 0) {
          this.#failure ??= new Error(`the thread of queue ${this.queue} has ended with code ${code}`);
        }
        resolve();
      });
    });
  }

  async #start(): Promise<void> {
    const ready = new Promise<Ready | null>((resolve) => {
      this.#worker.on('message', (message: WorkerMessage) => {
        if (message.name === 'ready') resolve(message);
        else {
          this.#failure ??= errorOf(message.error);
          resolve(null);
        }
      });
      void this.#exited.then(() => resolve(null));
    });
    const message = await ready;
    if (message === null) {
      await this.#exited;
      throw this.#failure;
    }
    const { geometry, buffer, umemOffset, umemBytes } = message;
    this.#memory = QueueMemory.attach(geometry, buffer);
    this.#memory.bind(new Uint8Array(buffer, umemOffset, umemBytes));
    this.#ready = message;
    this.#command(COMMAND.GO);
  }

  get zeroCopy(): boolean {
    return this.#ready.zeroCopy;
  }

  get usesAccelerator(): boolean {
    return this.#ready.usesAccelerator;
  }

  get figures(): Figures {
    return this.#memory.readFigures();
  }

  get isDrained(): boolean {
    const isDone = this.#hasEnded || Atomics.load(this.#memory.control, CONTROL.DONE) === 1;
    return isDone && Atomics.load(this.#memory.control, CONTROL.FILLED) === this.#taken;
  }

  take(): Slot | null {
    const { slots, control } = this.#memory;
    if (Atomics.load(control, CONTROL.FILLED) === this.#taken) {
      // Only now: what the thread had handed on before it ended is as good as ever.
      this.check();
      return null;
    }
    const slot = slots[this.#toTake]!;
    this.#taken = (this.#taken + 1) | 0;
    this.#toTake = (this.#toTake + 1) % slots.length;
    return slot;
  }

  give(slot: Slot): void {
    const { slots, control } = this.#memory;
    this.#isBack[slot.index] = true;
    if (slot.index !== this.#toFree) return;
    while (this.#isBack[this.#toFree] === true) {
      this.#isBack[this.#toFree] = false;
      this.#freed = (this.#freed + 1) | 0;
      this.#toFree = (this.#toFree + 1) % slots.length;
    }
    Atomics.store(control, CONTROL.FREED, this.#freed);
    Atomics.notify(control, CONTROL.FREED);
  }

  check(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  drain(): void {
    this.#command(COMMAND.DRAIN);
  }

  async close(): Promise<void> {
    // One that nothing is taken from any more would wait for ever.
    const limit = setTimeout(() => void this.#worker.terminate(), this.#failure === null ? END_LIMIT_MS : 0);
    await this.#exited;
    clearTimeout(limit);
  }

  #command(command: number): void {
    Atomics.store(this.#memory.control, CONTROL.COMMAND, command);
    Atomics.notify(this.#memory.control, CONTROL.COMMAND);
  }
}
