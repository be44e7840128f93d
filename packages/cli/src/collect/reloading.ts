import type { FileWatch } from '../input/file-watch.js';
import type { Io } from '../io.js';

/** Loads a file again when it changes, and at SIGHUP: one load at a time. */
export class Reloading {
  readonly #watch: FileWatch;
  readonly #io: Io;
  readonly #load: () => Promise<void>;
  #stopHangup: () => void = () => {};
  #loading: Promise<void> | null = null;
  #again = false;
  #isStopped = false;

  /** @param load never rejects */
  constructor(watch: FileWatch, io: Io, load: () => Promise<void>) {
    this.#watch = watch;
    this.#io = io;
    this.#load = load;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  start(): void {
    this.#watch.start(() => this.now());
    this.#stopHangup = this.#io.onHangup?.(() => this.now()) ?? this.#stopHangup;
  }

  /** Resolves when no load is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#watch.stop();
    this.#stopHangup();
    await this.#loading;
  }

  /** Loads it, or once more if a load is under way. */
  now(): void {
    if (this.#isStopped) return;
    // The file may have changed since it was read, so load it once more.
    if (this.#loading !== null) {
      this.#again = true;
      return;
    }
    this.#loading = this.#load().finally(() => {
      this.#loading = null;
      if (!this.#again) return;
      this.#again = false;
      this.now();
    });
  }
}
