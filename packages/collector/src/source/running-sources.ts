import { asError } from '../as-error.js';
import { deferred } from '../deferred.js';
import type { Push } from '../frames.js';
import { PipelineClock } from '../pipeline-clock.js';
import type { Source } from './source.js';

/** What sources have counted together. */
export interface SourceCounts {
  readonly overrun: number;
  /** Frames of senders that may not send. */
  readonly refused: number;
  /** Frames that name switches that there are not. */
  readonly refusedSwitches: number;
  /** `null` if none can say. */
  readonly kernelDropped: number | null;
  readonly clockStepsBack: number;
  readonly outages: number;
}

function addCounts(sum: SourceCounts, source: Source): SourceCounts {
  const { overrun, refused = 0, refusedSwitches = 0, kernelDropped, clockStepsBack = 0, outages = 0 } = source;
  return {
    overrun: sum.overrun + overrun,
    refused: sum.refused + refused,
    refusedSwitches: sum.refusedSwitches + refusedSwitches,
    kernelDropped: kernelDropped === null ? sum.kernelDropped : (sum.kernelDropped ?? 0) + kernelDropped,
    clockStepsBack: sum.clockStepsBack + clockStepsBack,
    outages: sum.outages + outages,
  };
}

/** The sources of a pipeline, which may come and go while it runs. What those that have gone have counted stays. */
export class RunningSources {
  readonly clock = new PipelineClock();
  readonly #end = deferred();
  /** Resolves when all sources have ended or been stopped. */
  readonly finished: Promise<void> = this.#end.promise;
  readonly #pushFrom: (source: Source) => Push;
  readonly #onFailure: (source: Source, error: Error) => void;
  #list: readonly Source[];
  /** Those whose input goes on. */
  readonly #going = new Set<Source>();
  readonly #stops = new Map<Source, Promise<void>>();
  #past: SourceCounts = {
    overrun: 0,
    refused: 0,
    refusedSwitches: 0,
    kernelDropped: null,
    clockStepsBack: 0,
    outages: 0,
  };
  /** The set of sources is changing: it has not come to its end, even if all have ended. */
  #held = 0;
  #isOver = false;

  /**
   * @param pushFrom makes the function by which a source pushes
   * @param onFailure called for a source that ends with an error, or does not stop without one
   */
  constructor(
    sources: readonly Source[],
    pushFrom: (source: Source) => Push,
    onFailure: (source: Source, error: Error) => void,
  ) {
    this.#list = sources;
    this.#pushFrom = pushFrom;
    this.#onFailure = onFailure;
  }

  /** Those that are there, also if they have ended. */
  get list(): readonly Source[] {
    return this.#list;
  }

  /** Delays {@link finished} during `work`. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#held++;
    try {
      return await work();
    } finally {
      this.#held--;
      this.#settle();
    }
  }

  /**
   * Opens sources.
   * @throws what the first one that cannot be opened throws, after closing the others; Error if all have been stopped
   */
  async open(sources: readonly Source[]): Promise<void> {
    const opened: Source[] = [];
    try {
      for (const source of sources) {
        await this.#open(source);
        opened.push(source);
        if (this.#isOver) throw new Error('the collector has been stopped');
      }
    } catch (error) {
      await Promise.all(opened.map((source) => this.stop(source)));
      for (const source of opened) this.#forget(source);
      throw error;
    }
    const more = sources.filter((source) => !this.#list.includes(source));
    if (more.length > 0) this.#list = [...this.#list, ...more];
  }

  /** Stops a source, once. It is never rejected. */
  stop(source: Source): Promise<void> {
    let stopping = this.#stops.get(source);
    if (stopping === undefined) {
      stopping = this.#stop(source);
      this.#stops.set(source, stopping);
    }
    return stopping;
  }

  /** Stops all sources for good. */
  async stopAll(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#list.map((source) => this.stop(source)));
  }

  /** Stops a source, and forgets it except for what it has counted. */
  async remove(source: Source): Promise<void> {
    if (!this.#list.includes(source)) return;
    await this.stop(source);
    if (!this.#list.includes(source)) return;
    this.#past = addCounts(this.#past, source);
    this.#list = this.#list.filter((each) => each !== source);
    this.#forget(source);
  }

  counts(): SourceCounts {
    return this.#list.reduce(addCounts, this.#past);
  }

  async #open(source: Source): Promise<void> {
    const time = this.clock.add(source);
    const push = this.#pushFrom(source);
    try {
      await source.start((input) => {
        time.pushed(input);
        return push(input);
      });
    } catch (error) {
      this.clock.remove(source);
      throw error;
    }
    this.#going.add(source);
    void source.finished
      .catch((error: unknown) => this.#onFailure(source, asError(error)))
      .then(() => {
        time.hasEnded = true;
        this.#going.delete(source);
        this.#settle();
      });
  }

  async #stop(source: Source): Promise<void> {
    try {
      await source.stop();
    } catch (error) {
      this.#onFailure(source, asError(error));
    }
  }

  #forget(source: Source): void {
    this.clock.remove(source);
    this.#going.delete(source);
    this.#stops.delete(source);
    this.#settle();
  }

  #settle(): void {
    if (this.#held === 0 && this.#going.size === 0) this.#end.resolve();
  }
}
