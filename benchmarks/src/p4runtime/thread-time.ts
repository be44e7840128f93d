import { closeSync, openSync, readSync } from 'node:fs';

/** What the scheduler has counted for the main thread: time on a processor, and time in which it could run and did not. */
export class ThreadTime {
  readonly #file: number | undefined;
  readonly #buffer = Buffer.alloc(128);
  runMs = 0;
  waitMs = 0;

  constructor() {
    try {
      this.#file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
    } catch {
      this.#file = undefined;
    }
  }

  /** Reads the counts anew. Without `/proc`, the processor time of the process stands for that of the thread. */
  read(): this {
    if (this.#file === undefined) {
      const { user, system } = process.cpuUsage();
      this.runMs = (user + system) / 1000;
      this.waitMs = 0;
      return this;
    }
    const length = readSync(this.#file, this.#buffer, 0, this.#buffer.length, 0);
    let at = 0;
    let first = 0;
    for (; at < length && this.#buffer[at] !== 0x20; at++) first = first * 10 + this.#buffer[at]! - 0x30;
    let second = 0;
    for (at++; at < length && this.#buffer[at] !== 0x20; at++) second = second * 10 + this.#buffer[at]! - 0x30;
    this.runMs = first / 1e6;
    this.waitMs = second / 1e6;
    return this;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}
