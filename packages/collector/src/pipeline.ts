import { AcceleratorMemory, BatchDecoder, CODES, type DecodeOptions, type LinkLayer, TelemetryBatch } from '@int/codec';
import { acceleratorAvailable } from '@int/codec/internals';
import { Admission } from './admission/admission.js';
import { SenderList } from './admission/sender-list.js';
import { asError } from './as-error.js';
import { batchCapacity, type PipelineCapacity } from './capacity.js';
import { type CollectorTotals, FrameCounters } from './counters.js';
import { deferred } from './deferred.js';
import { goodReports } from './delivery/delivery.js';
import { checkNames, FanOut } from './delivery/fan-out.js';
import { MAX_MS } from './delivery/option-checks.js';
import type { SinkQueue } from './delivery/sink-queue.js';
import { TimeLimit, within } from './delivery/within.js';
import { isDecoded, type SourceFrames } from './frames.js';
import type { DegradedPart } from './health/degraded-state.js';
import { PipelineHealth } from './health/pipeline-health.js';
import type { CollectorChange, CollectorOptions, CollectorProblem, SourceExchange } from './pipeline-options.js';
import { RunningSources, type SourceCounts } from './source/running-sources.js';
import type { Source } from './source/source.js';
import type { Outlets, Stage } from './stage.js';

/** Interval of `Sink.advance`, in milliseconds. */
const TICK_MS = 200;

/** Memory for a pipeline's batch and the accelerator of its decoder; `null`: none can run here. */
function decodingMemory(capacity?: PipelineCapacity): AcceleratorMemory | null {
  if (!acceleratorAvailable()) return null;
  return new AcceleratorMemory(TelemetryBatch.byteLength(batchCapacity(capacity)) + BatchDecoder.acceleratorBytes);
}

function checkTime(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (timeoutMs >= 0 && timeoutMs <= MAX_MS)) return;
  throw new RangeError(`timeoutMs must be 0 to ${MAX_MS}, not ${timeoutMs}`);
}

/** What a source has pushed, and who may send to it; `null`: anybody. */
interface Pushed {
  readonly input: SourceFrames | TelemetryBatch;
  readonly senders: SenderList | null;
}

const framesOf = ({ input }: Pushed): number => (isDecoded(input) ? input.frames : input.count);

/**
 * The pipeline. Sources push frames, which it decodes into a batch, or batches that they have decoded themselves.
 * Stages process each batch, then sinks get it. Every frame is counted exactly once.
 *
 * Its memory does not grow: when it is busy, sources wait, or drop frames and count them.
 */
export class Collector {
  /** Resolves when all sources have ended by themselves or have been stopped. A failed source is a problem, no rejection. */
  readonly finished: Promise<void>;
  readonly #sources: RunningSources;
  #stages: readonly Stage[];
  /** Stages that hand their records to the sinks. */
  readonly #connected = new Set<Stage>();
  readonly #fanOut: FanOut;
  readonly #health: PipelineHealth;
  #decode: Omit<DecodeOptions, 'linkType'>;
  readonly #decoders = new Map<LinkLayer, BatchDecoder>();
  readonly #capacity: PipelineCapacity | undefined;
  #memory: AcceleratorMemory | null;
  #batch: TelemetryBatch;
  readonly #counters = new FrameCounters();
  readonly #admission = new Admission();
  /** The switches that there are; `null`: any id may be one. */
  #known: readonly number[] | null = null;
  readonly #onProblem: (problem: CollectorProblem) => void;
  /** Set while a sink keeps the batch. Later pushes wait for it, at most one per slab of each source. */
  #busy: Promise<void> | null = null;
  #ticks: NodeJS.Timeout | undefined;
  /** A time waits for earlier pushes before it goes to the sinks. */
  #isTicking = false;
  /** Frames pushed that are not yet looked at. */
  #queued = 0;
  /** Stopping has taken too long: further input is refused. */
  #isGivenUp = false;
  #started = false;
  #stopping: Promise<CollectorTotals> | null = null;
  /** Settles when the changes asked for so far are in force, or refused. */
  #switched: Promise<void> = Promise.resolve();
  /** Settles when the sinks that they have replaced are closed, too. */
  #closed: Promise<unknown> = Promise.resolve();

  /**
   * @throws RangeError if there is no source, two sinks have the same name, or a decode option, capacity or switch id is out of
   *   range
   */
  constructor(options: CollectorOptions) {
    if (options.sources.length === 0) throw new RangeError('a collector needs at least one source');
    this.#stages = options.stages ?? [];
    this.#decode = options.decode ?? {};
    // Throw for options out of range now, not at the first frame.
    new BatchDecoder(this.#decode);
    this.#onProblem = options.onProblem ?? ((): void => {});
    this.#fanOut = new FanOut(options.sinks ?? [], this.#onProblem);
    this.#sources = new RunningSources(
      options.sources,
      (source) => {
        const { from } = source;
        source.setKnownSwitches?.(this.#known);
        const senders = from == null ? null : new SenderList(from);
        this.#counters.checksSenders ||= senders !== null;
        return (input) => this.#push({ input, senders });
      },
      (source, error) => {
        this.#health.failed(source, error);
        this.#onProblem({ where: source.name, error });
      },
    );
    this.finished = this.#sources.finished;
    const refused = (): SourceCounts => this.#sources.counts();
    this.#health = new PipelineHealth(options.sources, this.#stages, this.#counters, refused, this.#admission);
    this.setKnownSwitches(options.knownSwitches ?? null);
    this.#capacity = options.capacity;
    this.#memory = options.memory ?? decodingMemory(options.capacity);
    this.#batch = new TelemetryBatch(batchCapacity(options.capacity), this.#memory?.arena);
  }

  /**
   * Opens all sources.
   * @throws SourceError of the first one that cannot be opened, after closing those that were
   */
  async start(): Promise<void> {
    if (this.#started) throw new Error('a collector starts once');
    this.#started = true;
    this.#connect();
    await this.#sources.during(() => this.#sources.open(this.#sources.list));
    this.#keepTime();
  }

  /**
   * Changes sources, stages and sinks while the pipeline runs. No frame is lost and the accounts close: what comes before
   * the change goes to the old parts, what comes after it to the new ones.
   *
   * New sources open first; those of `exchanges` when the old one has closed. Between two batches stages, sinks and decode
   * options change. Then the old sources stop, the old stages hand what they hold to the old sinks, and these close. New
   * sinks take records from the moment of the change. Resolves when all of this is done. Changes follow one another;
   * a later one does not wait for the closing of sinks.
   *
   * @param timeoutMs time limit in milliseconds: half for coming to the change and for the work of old sources and
   *   stages, the rest for closing old sinks. An old sink that holds up the pipeline for longer is waited for no more: what
   *   it holds is dropped as `failed`. Default: no limit
   * @throws RangeError (rejects) without a source, or for two sinks of one name, a decode option or a time out of range
   * @throws SourceError (rejects) of the first source that cannot be opened; nothing has changed
   * @throws Error (rejects) if the collector does not run, or the pipeline is at work for longer than the limit; nothing has changed
   */
  reconfigure(change: CollectorChange, timeoutMs?: number): Promise<void> {
    const switched = this.#switched.then(async () => {
      checkTime(timeoutMs);
      this.#mustRun();
      const limit = new TimeLimit(timeoutMs);
      return { limit, leaving: await this.#sources.during(() => this.#change(change, limit)) };
    });
    const closed = switched.then(({ limit, leaving }) => this.#fanOut.retire(leaving, limit.leftMs));
    this.#switched = switched.then(
      () => {},
      () => {},
    );
    this.#closed = Promise.allSettled([this.#closed, closed]);
    return closed;
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
    checkTime(timeoutMs);
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
    const known = ids === null ? null : [...ids];
    for (const source of this.#sources.list) source.setKnownSwitches?.(known);
    this.#admission.setKnown(known);
    this.#known = known;
    this.#counters.checksSwitches ||= known !== null;
  }

  /** The counters now. */
  totals(): CollectorTotals {
    const { overrun, kernelDropped, clockStepsBack, outages, ...refused } = this.#sources.counts();
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
    const limit = new TimeLimit(timeoutMs);
    if (!(await within(limit.halfMs, this.#drain()))) {
      // Refuse the queued frames.
      this.#isGivenUp = true;
      this.#counters.overrun += this.#queued;
      this.#onProblem({ where: 'collector', error: new Error('what was under way has not ended in time: given up') });
    }
    const { leftMs } = limit;
    // The sinks of earlier changes have time limits of their own.
    await Promise.all([this.#fanOut.close(leftMs), within(leftMs ?? Number.POSITIVE_INFINITY, this.#closed)]);
    return this.totals();
  }

  /** @returns the sinks that are to be closed */
  async #change(change: CollectorChange, limit: TimeLimit): Promise<readonly SinkQueue[]> {
    const present = this.#sources.list;
    const { sources = present, exchanges = [], sinks = this.#fanOut.sinks, decode, handOver } = change;
    if (sources.length === 0) throw new RangeError('a collector needs at least one source');
    checkNames(sinks);
    if (decode !== undefined) new BatchDecoder(decode);
    const added = sources.filter((source) => !present.includes(source));
    const gone = present.filter((source) => !sources.includes(source));
    const leaving = this.#fanOut.without(sinks);
    await this.#openAll(added, exchanges, limit);
    let old: { readonly outlets: Outlets; readonly stages: readonly Stage[] };
    const handedOver = handOver === undefined ? null : deferred();
    const until = handedOver?.promise;
    try {
      old = await this.#betweenBatches(() => this.#replace({ ...change, sinks }), leaving, limit, until);
    } catch (error) {
      await within(limit.halfMs, Promise.all(added.map((source) => this.#sources.remove(source))));
      throw error;
    }
    const finished = this.#finish(old.stages, old.outlets);
    if (handedOver !== null) {
      await within(limit.halfMs, finished);
      await handOver!().catch((error: unknown) => this.#onProblem({ where: 'collector', error: asError(error) }));
      handedOver.resolve();
    }
    const ends = [...gone.map((source) => this.#sources.remove(source)), finished];
    if (!(await within(limit.halfMs, Promise.all(ends)))) {
      const error = new Error('what replaced parts have under way has not ended in time: given up');
      this.#onProblem({ where: 'collector', error });
    }
    this.#health.change(this.#sources.list, this.#stages);
    return leaving;
  }

  #mustRun(): void {
    if (!this.#started || this.#stopping !== null) throw new Error('the collector does not run');
  }

  /** Opens the new sources of a change, all or none. */
  async #openAll(added: readonly Source[], exchanges: readonly SourceExchange[], limit: TimeLimit): Promise<void> {
    const sources = this.#sources;
    const first = added.filter((source) => exchanges.every(({ by }) => by !== source));
    await sources.open(first);
    if (exchanges.length === 0) return;
    const olds = exchanges.map(({ old }) => old);
    try {
      await within(limit.halfMs, Promise.all(olds.map((source) => sources.stop(source))));
      await sources.open([...new Set(exchanges.map(({ by }) => by))]);
    } catch (error) {
      await within(limit.halfMs, Promise.all([...first, ...olds].map((source) => sources.remove(source))));
      for (const { back, onBack } of exchanges) {
        const isOpen = await sources.open([back]).then(
          () => true,
          (reason: unknown) => {
            this.#onProblem({ where: back.name, error: asError(reason) });
            return false;
          },
        );
        onBack?.(isOpen);
      }
      this.#health.change(sources.list, this.#stages);
      throw error;
    }
  }

  /**
   * Calls `change` when no batch is under way.
   * @param leaving sinks that are not waited for beyond the limit
   * @param until what the next batch waits for, after the change
   * @throws Error (rejects) if the pipeline stays at work, or stops first; `change` is then not called
   */
  async #betweenBatches<T>(
    change: () => T,
    leaving: readonly SinkQueue[],
    limit: TimeLimit,
    until?: Promise<void>,
  ): Promise<T> {
    this.#mustRun();
    if (this.#busy === null) {
      const value = change();
      if (until !== undefined) void this.#occupy(until);
      return value;
    }
    let result: { readonly value: T } | null = null;
    let isOver = false;
    const turn = deferred();
    void this.#occupy(
      this.#busy.then(() => {
        if (isOver || this.#stopping !== null) return turn.resolve();
        try {
          result = { value: change() };
        } catch (error) {
          return turn.reject(asError(error));
        }
        turn.resolve();
        return until;
      }),
    );
    if (!(await within(limit.halfMs / 2, turn.promise))) {
      // A sink that may still read the batch keeps it.
      if (leaving.map((queue) => queue.abandon()).includes(true)) this.#renewBatch(null);
      await within(limit.halfMs, turn.promise);
    }
    isOver = true;
    if (result !== null) return (result as { readonly value: T }).value;
    for (const queue of leaving) queue.resume();
    this.#mustRun();
    throw new Error('the pipeline is at work without a pause: nothing is changed');
  }

  /** Puts the parts of a change in the place of the present ones. @returns the stages that are gone, and the way to the old sinks */
  #replace({ stages = this.#stages, sinks = this.#fanOut.sinks, decode, memory, knownSwitches }: CollectorChange): {
    readonly outlets: Outlets;
    readonly stages: readonly Stage[];
  } {
    if (knownSwitches !== undefined) this.setKnownSwitches(knownSwitches);
    const { outlets } = this.#fanOut;
    const gone = this.#stages.filter((stage) => !stages.includes(stage));
    this.#stages = stages;
    this.#fanOut.replace(sinks);
    if (decode !== undefined) {
      this.#decode = decode;
      this.#decoders.clear();
    }
    if (memory !== undefined) this.#renewBatch(memory);
    for (const stage of gone) if (this.#connected.has(stage)) stage.connect?.(outlets);
    this.#connect();
    this.#keepTime();
    this.#health.change(this.#sources.list, stages);
    return { outlets, stages: gone };
  }

  /** Moves the batch to other memory; `null`: its own. */
  #renewBatch(memory: AcceleratorMemory | null): void {
    this.#memory = memory;
    this.#batch = new TelemetryBatch(batchCapacity(this.#capacity), memory?.arena);
    this.#decoders.clear();
  }

  /** Connects the stages to the sinks, if one of these takes their records. */
  #connect(): void {
    if (!this.#fanOut.takesRecords) return;
    for (const stage of this.#stages) {
      if (this.#connected.has(stage)) continue;
      this.#connected.add(stage);
      stage.connect?.(this.#fanOut);
    }
  }

  /** Tells stages and sinks the time from now on, if one of them wants to know it. */
  #keepTime(): void {
    const isWanted = this.#fanOut.takesTime || this.#stages.some((stage) => stage.advance !== undefined);
    if (isWanted && this.#ticks === undefined) this.#ticks = setInterval(() => this.#tick(), TICK_MS);
    if (isWanted) return;
    clearInterval(this.#ticks);
    this.#ticks = undefined;
  }

  /** Lets stages hand on what they hold. */
  async #finish(stages: readonly Stage[], outlets: Outlets): Promise<void> {
    for (const stage of stages) {
      if (this.#isGivenUp) return;
      try {
        await stage.finish?.();
      } catch (error) {
        this.#onProblem({ where: stage.name, error: asError(error) });
      }
      this.#connected.delete(stage);
    }
    await outlets.room();
  }

  /** Tells stages and sinks the time, after all earlier pushes. */
  #tick(): void {
    const timeMs = this.#sources.clock.now();
    if (timeMs === null || this.#isTicking) return;
    if (this.#busy === null) {
      this.#advance(timeMs);
      return;
    }
    this.#isTicking = true;
    this.#occupy(
      this.#busy.then(() => {
        this.#isTicking = false;
        this.#advance(timeMs);
      }),
    );
  }

  #advance(timeMs: number): void {
    for (const stage of this.#stages) {
      try {
        stage.advance?.(timeMs);
      } catch (error) {
        if (this.#health.threw(stage, asError(error))) this.#onProblem({ where: stage.name, error: asError(error) });
      }
    }
    this.#fanOut.advance(timeMs);
  }

  /** Everything up to the closing of the sinks. */
  async #drain(): Promise<void> {
    if (this.#started) await this.#sources.stopAll();
    await this.#switched;
    clearInterval(this.#ticks);
    while (this.#busy !== null) await this.#busy;
    await this.#finish(this.#stages, this.#fanOut);
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
