import { Worker } from 'node:worker_threads';

export interface DemoOptions {
  readonly host: string;
  readonly port: number;
  readonly topology: string;
  readonly flows: number;
  /** Approximate reports per second. */
  readonly ratePps: number;
  readonly seed: number;
}

/** The worker's last message. */
export interface DemoMessage {
  readonly sent: number;
  readonly error: string | null;
}

export class DemoFabric {
  readonly #worker: Worker;
  readonly #ended: Promise<DemoMessage>;

  constructor(options: DemoOptions) {
    this.#worker = new Worker(new URL('./demo-worker.js', import.meta.url), { workerData: options });
    this.#ended = new Promise((resolve) => {
      this.#worker.once('message', resolve);
      this.#worker.once('error', (error) => resolve({ sent: 0, error: error.message }));
    });
  }

  /** Resolves when the fabric has ended; without {@link stop}, only after a failure. */
  get ended(): Promise<DemoMessage> {
    return this.#ended;
  }

  /** Stops sending. Resolves with the number of reports sent. */
  async stop(): Promise<DemoMessage> {
    this.#worker.postMessage('stop');
    return this.#ended;
  }
}
