/** Receives telemetry by XdpSource and a Collector, as the test says. */
import { setTimeout as sleep } from 'node:timers/promises';
import { XdpSource, type XdpSourceOptions, type XdpSourceStatistics } from '@int/afxdp/source';
import type { TelemetryBatch } from '@int/codec';
import { AcceleratorReport2 } from '@int/codec/internals';
import { Collector, type CollectorTotals, type Sink, SourceError } from '@int/collector';
import { PATIENCE_MS } from '../exchange.js';
import { reported } from '../frames.js';
import { type Failure, failureOf, serve } from '../serve.js';

/** How to receive; goes from process to process. */
export interface Receiving {
  readonly source: Omit<XdpSourceOptions, 'prefilter' | 'onProblem' | 'onRecovered'>;
  /** Reports have numbers below it. */
  readonly numbers: number;
  /** Keep each batch for so long, by a sink that answers with a promise. */
  readonly keepMs?: number;
}

/** What has been received. */
export interface Received {
  readonly name: string;
  readonly address: string;
  readonly queues: readonly number[];
  readonly mode: string | null;
  readonly usesAccelerator: boolean;
  /** Frames that the WebAssembly accelerator has decoded, on this thread. */
  readonly inKernel: number;
  /** Whether frames, their tables and what has been decoded of them lay in one memory, in every batch. */
  readonly isInPlace: boolean;
  /** Reports that say exactly what was sent, those that do not, and those that came twice. */
  readonly right: number;
  readonly wrong: number;
  readonly duplicates: number;
  /** Reports behind one with a higher number. */
  readonly late: number;
  /** Times that are not of the last minute, or go back. */
  readonly oddTimes: number;
  /** Batches that a sink had at a time, at most. */
  readonly kept: number;
  /** Why nothing comes, and what was told of that. */
  readonly health: string | null;
  readonly told: readonly string[];
  /** Up to when all has been handed on, before now, in ms; null: it does not say. */
  readonly behindMs: number | null;
  readonly totals: CollectorTotals;
  readonly statistics: XdpSourceStatistics;
  readonly problems: readonly (Failure & { readonly cause: Failure | null })[];
}

/** Compares columns with what the numbers of the reports ask for. */
class Witness {
  readonly name = 'witness';
  readonly #seen: Uint8Array;
  right = 0;
  wrong = 0;
  duplicates = 0;
  late = 0;
  oddTimes = 0;
  isInPlace = true;
  #last = -1;

  constructor(numbers: number) {
    this.#seen = new Uint8Array(numbers);
  }

  process(batch: TelemetryBatch): void {
    const memory = batch.bytes.buffer;
    for (const { buffer } of [batch.frameOffset, batch.frameLength, batch.frameTimeHigh, batch.hopWords]) {
      if (buffer !== memory) this.isInPlace = false;
    }
    for (let row = 0; row < batch.reports; row++) this.#report(batch, row);
    const now = Date.now();
    for (let frame = 0; frame < batch.frames; frame++) {
      const timeMs = batch.frameTimeHigh[frame]! * 4294.967296 + batch.frameTimeLow[frame]! / 1e6;
      if (!(timeMs > now - 60_000 && timeMs < now + 50)) this.oddTimes++;
    }
  }

  #report(batch: TelemetryBatch, row: number): void {
    const number = batch.sequence[row]!;
    const says = reported(number);
    const hop = batch.hopStart[row]!;
    const isRight =
      batch.code[row] === 0 &&
      batch.hopCount[row] === 3 &&
      batch.nodeId[row] === says.nodeId >>> 0 &&
      batch.hop.queueOccupancy[hop] === says.firstHopQueue &&
      batch.hop.queueId[hop + 2] === says.ownQueue >>> 24 &&
      batch.hop.queueOccupancy[hop + 2] === (says.ownQueue & 0xffffff) &&
      number < this.#seen.length;
    if (!isRight) {
      this.wrong++;
      return;
    }
    this.right++;
    if (this.#seen[number]! > 0) this.duplicates++;
    this.#seen[number] = 1;
    if (number < this.#last) this.late++;
    this.#last = Math.max(this.#last, number);
  }
}

interface Running {
  readonly source: XdpSource;
  readonly collector: Collector;
  readonly witness: Witness;
  readonly problems: (Failure & { readonly cause: Failure | null })[];
  readonly told: string[];
  kept: number;
}

let running: Running | null = null;

let inKernel = 0;
const run = AcceleratorReport2.prototype.run;
AcceleratorReport2.prototype.run = function (
  this: AcceleratorReport2,
  batch,
  bytes,
  offsets,
  lengths,
  from,
  to,
): number {
  const end = run.call(this, batch, bytes, offsets, lengths, from, to);
  // Elsewhere it leaves the work to TypeScript.
  const { buffer } = this.memory;
  if (batch.buffer === buffer && bytes.buffer === buffer && offsets.buffer === buffer) inKernel += end - from;
  return end;
};

function withCause(error: Error): Failure & { readonly cause: Failure | null } {
  return { ...failureOf(error), cause: error.cause instanceof Error ? failureOf(error.cause) : null };
}

function behind(source: XdpSource): number | null {
  const timeMs = source.lowTimeMs();
  return timeMs === null ? null : Date.now() - timeMs;
}

function state({ source, collector, witness, problems, told, kept }: Running): Received {
  const { right, wrong, duplicates, late, oddTimes, isInPlace } = witness;
  const { name, address, queues, mode, usesAccelerator } = source;
  return {
    ...{
      name,
      address,
      queues,
      mode,
      usesAccelerator,
      isInPlace,
      right,
      wrong,
      duplicates,
      late,
      oddTimes,
      kept,
      inKernel,
    },
    health: source.health(),
    behindMs: behind(source),
    told,
    totals: collector.totals(),
    statistics: source.statistics(),
    problems,
  };
}

const handlers = {
  /** @returns why it could not be opened, or null */
  async open({ source: options, numbers, keepMs }: Receiving): Promise<(Failure & { cause: Failure | null }) | null> {
    const told: string[] = [];
    const source = new XdpSource({
      ...options,
      onProblem: ({ code }) => told.push(code),
      onRecovered: () => told.push('recovered'),
    });
    const witness = new Witness(numbers);
    const problems: Running['problems'] = [];
    const sink: Sink = {
      name: 'slow',
      async write(batch): Promise<void> {
        const first = [batch.sequence[0], batch.frameOffset[0], batch.frames];
        await sleep(keepMs);
        // Nobody else may have written there meanwhile.
        if ([batch.sequence[0], batch.frameOffset[0], batch.frames].join() !== first.join()) witness.wrong++;
      },
    };
    const collector = new Collector({
      sources: [source],
      decode: source.decode,
      stages: [witness],
      sinks: keepMs === undefined ? [] : [sink],
      onProblem: ({ error }) => problems.push(withCause(error)),
    });
    const mine: Running = { source, collector, witness, problems, told, kept: 0 };
    try {
      await collector.start();
    } catch (error) {
      if (!SourceError.is(error)) throw error;
      return withCause(error);
    }
    running = mine;
    return null;
  },

  /** A pipeline that breaks at the first batch. @returns how the source ended */
  async breaking(options: Receiving['source']): Promise<Failure | null> {
    const source = new XdpSource(options);
    await source.start(() => {
      throw new Error('the pipeline broke');
    });
    return source.finished.then(
      () => null,
      (error: unknown) => failureOf(error),
    );
  },

  /** Waits until so many frames have been received, or dropped by the kernel. */
  async until(count: number): Promise<Received> {
    const { collector } = running!;
    const sum = (): number => {
      const { received, kernelDropped } = collector.totals();
      return received + (kernelDropped ?? 0);
    };
    for (const since = Date.now(); sum() < count && Date.now() - since < PATIENCE_MS; ) await sleep(2);
    return state(running!);
  },

  state: (): Received => state(running!),

  /** Waits until an outage is over, the last of so many. */
  async recovered(outages: number): Promise<Received> {
    for (const since = Date.now(); Date.now() - since < PATIENCE_MS; await sleep(5)) {
      const { health, told } = state(running!);
      if (health === null && told.filter((each) => each === 'recovered').length === outages) break;
    }
    return state(running!);
  },

  /** Blocks the thread. */
  block(ms: number): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  },

  /** Waits until the sources have ended by themselves. */
  async finished(): Promise<Received> {
    await running!.collector.finished;
    return state(running!);
  },

  /** Stops, and waits for it. */
  async stop(): Promise<Received> {
    await running!.collector.stop();
    return state(running!);
  },

  /** Milliseconds of processor time that the process takes in so many milliseconds. */
  async idle(ms: number): Promise<number> {
    const before = process.cpuUsage();
    await sleep(ms);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  },
};

export type Sourcing = typeof handlers;
serve(handlers);
