import type { ReadConfig } from '../config/read-config.js';
import type { ConfigSetup } from '../config/setup.js';
import type { FileWatch } from '../input/file-watch.js';
import { FileProblems, type Io } from '../io.js';
import type { TellRules } from './live-detection.js';
import { Reloading } from './reloading.js';

/** Puts one setup in the place of another. @throws CliError (rejects), with the other one still in force */
export type Exchange = (next: ConfigSetup, before: ConfigSetup) => Promise<void>;

/** The configuration of a run, read again when its file changes or at SIGHUP. A broken one leaves the present one in force. */
export class ConfigReload {
  readonly #reloading: Reloading;
  readonly #file: string;
  readonly #io: Io;
  readonly #exchange: Exchange;
  readonly #tell: TellRules;
  #setup: ConfigSetup;

  /** @param watch of the file, made before it was read */
  constructor(watch: FileWatch, file: string, setup: ConfigSetup, exchange: Exchange, tell: TellRules, io: Io) {
    this.#file = file;
    this.#setup = setup;
    this.#exchange = exchange;
    this.#tell = tell;
    this.#io = io;
    this.#reloading = new Reloading(watch, io, () => this.#load());
  }

  start(): void {
    this.#reloading.start();
  }

  get isStopped(): boolean {
    return this.#reloading.isStopped;
  }

  /** Reads it no more. Resolves when no reload is under way. */
  stop(): Promise<void> {
    return this.#reloading.stop();
  }

  async #load(): Promise<void> {
    try {
      // The modules for reading and checking are loaded only if there is a file.
      const { readConfig } = await import('../config/read-config.js');
      await this.#use(await readConfig(this.#file, this.#io));
    } catch (error) {
      if (this.isStopped) return;
      // Whatever it is, the run goes on with what it has.
      const problems = error instanceof FileProblems ? error.text : [`int: ${(error as Error).message}`];
      this.#tell(problems, `${this.#file}: the configuration in force stays as it was`);
    }
  }

  async #use(read: ReadConfig): Promise<void> {
    const before = this.#setup;
    const next = await before.follow(read);
    if (this.isStopped) return next.discard(before);
    const changed = next.changesFrom(before);
    if (changed.length === 0) {
      this.#tell([], `${this.#file}: nothing has changed`);
      return;
    }
    await this.#exchange(next, before);
    this.#setup = next;
    this.#tell([], `${this.#file}: in force: ${changed.join(', ')}`);
  }
}
