import { AcceleratorMemory, BatchDecoder, CODES, type DecodeOptions, type LinkLayer, TelemetryBatch } from '@int/codec';
import { acceleratorAvailable } from '@int/codec/internals';
import { Admission } from './admission/admission.js';
import { SenderList } from './admission/sender-list.js';
import { batchCapacity, type PipelineCapacity } from './capacity.js';
import { type CollectorTotals, FrameCounters } from './counters.js';
import { deferred } from './deferred.js';
import { FanOut, goodReports } from './delivery/fan-out.js';
import { MAX_MS } from './delivery/option-checks.js';
import { within } from './delivery/within.js';
import { isDecoded, type SourceFrames } from './frames.js';
import type { DegradedPart } from './health/degraded-state.js';
import { PipelineHealth } from './health/pipeline-health.js';
import { PipelineClock } from './pipeline-clock.js';
import type { Source } from './source/source.js';
import type { Sink, Stage } from './stage.js';

/** Something went wrong in a source, a stage or a sink; the collector goes on with the others. */
export interface CollectorProblem {
  /** The name of the source, stage or sink. */
  readonly where: string;
  readonly error: Error;
}

export interface CollectorOptions {
  readonly sources: readonly Source[];
  /** How to find and read INT; `linkType` comes from the sources. */
  readonly decode?: Omit<DecodeOptions, 'linkType'>;
  /** Run on every batch, in this order. */
  readonly stages?: readonly Stage[];
  /** Given every batch after the stages, and the events and flow entries that stages find. */
  readonly sinks?: readonly Sink[];
  /**
   * Ids of the switches that there are, such as the keys of `Topology.switches`. A frame with a report that names another one,
   * as the reporting node or as a hop, is counted as `unknown-switch` and becomes no rows. Reports that name no switch stay.
   * Who may send is an option of each source, `from`. Default: any id may be a switch.
   */
  readonly knownSwitches?: Iterable<number>;
  readonly capacity?: PipelineCapacity;
  /**
   * Memory to put the batch in, so that the WebAssembly accelerators of stages can work on it, too, see {@link detectionMemory}. The
   * decoder's accelerator runs there if `BatchDecoder.acceleratorBytes` are free. Default: memory for the batch and the decoder.
   */
  readonly memory?: AcceleratorMemory;
  /** Called when something goes wrong. A problem that repeats is reported once. */
  readonly onProblem?: (problem: CollectorProblem) => void;
}

/** Interval of `Sink.advance`, in milliseconds. */
const TICK_MS = 200;

/** Memory for a pipeline's batch and the accelerator of its decoder; `null`: none can run here. */
function decodingMemory(capacity?: PipelineCapacity): AcceleratorMemory | null {
  if (!acceleratorAvailable()) return null;
  return new AcceleratorMemory(TelemetryBatch.byteLength(batchCapacity(capacity)) + BatchDecoder.acceleratorBytes);
}

/** What a source has pushed, and who may send to it; `null`: anybody. */
interface Pushed {
  readonly input: SourceFrames | TelemetryBatch;
  readonly senders: SenderList | null;
}

const framesOf = ({ input }: Pushed): number => (isDecoded(input) ? input.frames : input.count);

const asError = (value: unknown): Error => (value instanceof Error ? value : new Error(String(value)));

/**
 * The pipeline. Sources push frames, which it decodes into a batch, or batches that they have decoded themselves.
 * Stages process each batch, then sinks get it. Every frame is counted exactly once.
 *
 * Its memory does not grow: when it is busy, sources wait, or drop frames and count them.
 */
export class Collector {
  /** Resolves when all sources have ended by themselves or have been stopped. A failed source is a problem, no rejection. */
  readonly finished: Promise<void>;
  readonly #end = deferred();
  readonly #sources: readonly Source[];
  readonly #stages: readonly Stage[];
  readonly #fanOut: FanOut;
  readonly #health: PipelineHealth;
  readonly #decode: Omit<DecodeOptions, 'linkType'>;
  readonly #decoders = new Map<LinkLayer, BatchDecoder>();
  readonly #memory: AcceleratorMemory | null;
  readonly #batch: TelemetryBatch;
  readonly #counters = new FrameCounters();
  readonly #admission = new Admission();
  readonly #onProblem: (problem: CollectorProblem) => void;
  /** Set while a sink keeps the batch. Later pushes wait for it, at most one per slab of each source. */
  #busy: Promise<void> | null = null;
  readonly #clock: PipelineClock;
  #ticks: NodeJS.Timeout | undefined;
  /** A time waits for earlier pushes before it goes to the sinks. */
  #isTicking = false;
  /** Frames pushed that are not yet looked at. */
  #queued = 0;
  /** Stopping has taken too long: further input is refused. */
  #isGivenUp = false;
  #started = false;
  #stopping: Promise<CollectorTotals> | null = null;

  /**
   * @throws RangeError if there is no source, two sinks have the same name, or a decode option, capacity or switch id is out of
   *   range
   */
  constructor(options: CollectorOptions) {
    if (options.sources.length === 0) throw new RangeError('a collector needs at least one source');
    this.#sources = options.sources;
    this.#stages = options.stages ?? [];
    this.#decode = options.decode ?? {};
    // Throw for options out of range now, not at the first frame.
    new BatchDecoder(this.#decode);
    this.#onProblem = options.onProblem ?? ((): void => {});
    this.#fanOut = new FanOut(options.sinks ?? [], this.#onProblem);
    this.#clock = new PipelineClock(options.sources);
    this.#health = new PipelineHealth(this.#sources, this.#stages, this.#counters, this.#admission);
    this.setKnownSwitches(options.knownSwitches ?? null);
    this.#memory = options.memory ?? decodingMemory(options.capacity);
    this.#batch = new TelemetryBatch(batchCapacity(options.capacity), this.#memory?.arena);
    this.finished = this.#end.promise;
  }

  /**
   * Opens all sources.
   * @throws SourceError of the first one that cannot be opened, after closing those that were
   */
  async start(): Promise<void> {
    if (this.#started) throw new Error('a collector starts once');
    this.#started = true;
    if (this.#fanOut.takesRecords) for (const stage of this.#stages) stage.connect?.(this.#fanOut);
    const opened: Source[] = [];
    try {
      for (const [index, source] of this.#sources.entries()) {
        const senders = source.from == null ? null : new SenderList(source.from);
        await source.start((input) => {
          this.#clock.pushed(index, input);
          return this.#push({ input, senders });
        });
        opened.push(source);
      }
    } catch (error) {
      await Promise.all(opened.map((source) => source.stop()));
      throw error;
    }
    const ended = this.#sources.map((source, index) =>
      source.finished
        .catch((error: unknown) => {
          this.#health.failed(source, asError(error));
          this.#onProblem({ where: source.name, error: asError(error) });
        })
        .then(() => this.#clock.ended(index)),
    );
    if (this.#fanOut.takesTime) this.#ticks = setInterval(() => this.#tick(), TICK_MS);
    void Promise.all(ended).then(() => this.#end.resolve());
  }

  /**
   * Stops the sources, waits for their remaining frames, lets the stages hand on their records, and closes the sinks.
   * Calling it again returns the same promise.
   *
   * @param timeoutMs time limit in milliseconds: half for the work under way, the rest for closing the sinks. Frames
   *   not processed by then count as `overrun`. Default: no limit
   * @throws RangeError for an invalid time
   */
  stop(timeoutMs?: number): Promise<CollectorTotals> {
    if (timeoutMs !== undefined && !(timeoutMs >= 0 && timeoutMs <= MAX_MS)) {
      throw new RangeError(`timeoutMs must be 0 to ${MAX_MS}, not ${timeoutMs}`);
    }
    this.#stopping ??= this.#stop(timeoutMs);
    return this.#stopping;
  }

  /**
   * The current degraded states of sources, stages, sinks and the pipeline itself. Some follow from counters that only
   * this call reads, see `DegradedStates.watch`. Call it about once a second.
   */
  degraded(): readonly DegradedPart[] {
    return [...this.#health.degraded(), ...this.#fanOut.degraded()];
  }

  /**
   * Replaces the ids of the switches that there are, from the next batch on.
   * @param ids `null`: any id may be a switch
   * @throws RangeError for an id that is no whole number from 0 to 2^32 - 1, with nothing changed
   */
  setKnownSwitches(ids: Iterable<number> | null): void {
    this.#admission.setKnown(ids);
  }

  /** The counters now. */
  totals(): CollectorTotals {
    let overrun = 0;
    let refused = 0;
    let kernelDropped: number | null = null;
    let clockStepsBack = 0;
    let outages = 0;
    for (const source of this.#sources) {
      overrun += source.overrun;
      refused += source.refused ?? 0;
      clockStepsBack += source.clockStepsBack ?? 0;
      outages += source.outages ?? 0;
      if (source.kernelDropped !== null) kernelDropped = (kernelDropped ?? 0) + source.kernelDropped;
    }
    const stages: Record<string, Readonly<Record<string, number>>> = {};
    for (const stage of this.#stages) if (stage.counters !== undefined) stages[stage.name] = stage.counters();
    this.#fanOut.addStages(stages);
    return {
      ...this.#counters.totals(overrun, refused, kernelDropped),
      stages,
      sinks: this.#fanOut.totals(),
      ...(clockStepsBack > 0 && { clockStepsBack }),
      ...(outages > 0 && { outages }),
    };
  }

  async #stop(timeoutMs: number | undefined): Promise<CollectorTotals> {
    const began = performance.now();
    const limitMs = timeoutMs ?? Number.POSITIVE_INFINITY;
    if (!(await within(limitMs / 2, this.#drain()))) {
      // Refuse the queued frames.
      this.#isGivenUp = true;
      this.#counters.overrun += this.#queued;
      this.#onProblem({ where: 'collector', error: new Error('what was under way has not ended in time: given up') });
    }
    const left = timeoutMs === undefined ? undefined : Math.max(0, timeoutMs - (performance.now() - began));
    await this.#fanOut.close(left);
    return this.totals();
  }

  /** Tells the sinks the time, after all earlier pushes. */
  #tick(): void {
    const timeMs = this.#clock.now();
    if (timeMs === null || this.#isTicking) return;
    if (this.#busy === null) {
      this.#fanOut.advance(timeMs);
      return;
    }
    this.#isTicking = true;
    this.#occupy(
      this.#busy.then(() => {
        this.#isTicking = false;
        this.#fanOut.advance(timeMs);
      }),
    );
  }

  /** Everything up to the closing of the sinks. */
  async #drain(): Promise<void> {
    if (this.#started) {
      const stop = async (source: Source): Promise<void> => {
        try {
          await source.stop();
        } catch (error) {
          this.#onProblem({ where: source.name, error: asError(error) });
        }
      };
      await Promise.all(this.#sources.map(stop));
    }
    clearInterval(this.#ticks);
    while (this.#busy !== null) await this.#busy;
    for (const stage of this.#stages) {
      if (this.#isGivenUp) return;
      try {
        await stage.finish?.();
      } catch (error) {
        this.#onProblem({ where: stage.name, error: asError(error) });
      }
    }
    await this.#fanOut.room();
  }

  #push(pushed: Pushed): Promise<void> | undefined {
    if (this.#isGivenUp) {
      this.#counters.overrun += framesOf(pushed);
      return undefined;
    }
    if (this.#busy === null) {
      const busy = this.#run(pushed, 0);
      return busy === undefined ? undefined : this.#occupy(busy);
    }
    return this.#occupy(this.#goOn(this.#busy, pushed, 0));
  }

  /** Makes later pushes wait for `busy`. */
  #occupy(busy: Promise<void>): Promise<void> {
    const done: Promise<void> = busy.then(() => {
      if (this.#busy === done) this.#busy = null;
    });
    this.#busy = done;
    return done;
  }

  /** Hands on what a source has decoded, or decodes and hands on its frames from row `from`. Returns a promise only if a sink does. */
  #run(pushed: Pushed, from: number): Promise<void> | undefined {
    if (this.#isGivenUp) return undefined;
    const { input, senders } = pushed;
    return isDecoded(input) ? this.#take(input, senders) : this.#decodeFrames(pushed, input, from);
  }

  #decodeFrames(pushed: Pushed, frames: SourceFrames, from: number): Promise<void> | undefined {
    const { senders } = pushed;
    if (frames.linkType === null) {
      // A sender that cannot be read is unknown.
      if (senders !== null) this.#counters.unknownSource += frames.count;
      else this.#counters.byCode[CODES.UNSUPPORTED_LINK_TYPE]! += frames.count;
      return undefined;
    }
    const decoder = this.#decoderFor(frames.linkType);
    const batch = this.#batch;
    let next = from;
    while (next < frames.count) {
      const first = next;
      batch.clear();
      next = decoder.decode(batch, frames, first, frames.count);
      if (next === first) {
        // A frame that an empty batch cannot hold, possible only with a capacity below the default.
        this.#counters.overrun++;
        next++;
        continue;
      }
      const busy = this.#take(batch, senders);
      if (busy !== undefined) return next < frames.count ? this.#goOn(busy, pushed, next) : busy;
    }
    return undefined;
  }

  #goOn(busy: Promise<void>, pushed: Pushed, rest: number): Promise<void> {
    const frameCount = framesOf(pushed) - rest;
    this.#queued += frameCount;
    return busy.then(() => {
      this.#queued -= frameCount;
      return this.#run(pushed, rest);
    });
  }

  /** Counts the frames of a batch, and hands on what is admitted of it. */
  #take(batch: TelemetryBatch, senders: SenderList | null): Promise<void> | undefined {
    const admission = this.#admission;
    if (!admission.refuses(batch, senders)) {
      this.#counters.add(batch.frameCode, 0, batch.frames);
      return this.#handOn(batch);
    }
    this.#counters.addAdmitted(batch.frameCode, admission.reasons, batch.frames);
    const kept = admission.keep(batch);
    return kept === null ? undefined : this.#handOn(kept);
  }

  #handOn(batch: TelemetryBatch): Promise<void> | undefined {
    this.#counters.reports += goodReports(batch);
    for (const stage of this.#stages) {
      try {
        stage.process(batch);
      } catch (error) {
        if (this.#health.threw(stage, asError(error))) this.#onProblem({ where: stage.name, error: asError(error) });
      }
    }
    this.#fanOut.reports(batch);
    return this.#fanOut.room();
  }

  #decoderFor(linkType: LinkLayer): BatchDecoder {
    let decoder = this.#decoders.get(linkType);
    if (decoder === undefined) {
      const memory = this.#memory;
      const isRoom = memory !== null && memory.free >= BatchDecoder.acceleratorBytes;
      decoder = new BatchDecoder({ ...this.#decode, linkType, ...(isRoom && { memory }) });
      this.#decoders.set(linkType, decoder);
    }
    return decoder;
  }
}
