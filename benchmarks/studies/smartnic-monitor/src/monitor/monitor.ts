/** The monitor: source, decoder, shards, rings, writer. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Flow, TelemetryBatch } from '@int/codec';
import { CaptureSource, Collector, type CollectorTotals, type Sink, type Source, UdpSource } from '@int/collector';
import type { Distributions, FlowEntry, Thresholds } from '@int/flowcache';
import { ShardedFlowCache, type ShardedTotals } from '@int/flowcache/node';
import type { WriterMessage, WriterOrder, WriterSetup, WriterTotals } from '../writer/protocol.js';
import type { MonitorOptions } from './options.js';

/** All counters of the monitor. */
export interface MonitorTotals {
  readonly frames: CollectorTotals;
  readonly flows: ShardedTotals;
  readonly written: WriterTotals;
}

/** Hands decoded batches to the shards; the collector waits while they are behind. */
class Dispatch implements Sink {
  readonly name = 'shards';
  readonly #cache: ShardedFlowCache;

  constructor(cache: ShardedFlowCache) {
    this.#cache = cache;
  }

  write(batch: TelemetryBatch): Promise<void> | undefined {
    return this.#cache.dispatch(batch);
  }
}

/** How often what lies in half-filled slots is given to the shards. */
const FLUSH_MS = 20;

export class Monitor {
  /** Resolves when the source has ended by itself: a capture at its end. */
  readonly finished: Promise<void>;
  /** Where a UDP source listens. */
  readonly source: Source;
  readonly #cache: ShardedFlowCache;
  readonly #collector: Collector;
  readonly #writer: Worker;
  readonly #ended: Promise<WriterTotals>;
  readonly #patienceMs: number;
  #written: WriterTotals = { entries: 0, entryPackets: 0, events: 0, redis: null };
  #asked: (() => void)[] = [];
  #flushing: NodeJS.Timeout | undefined;
  #stopping: Promise<MonitorTotals> | null = null;

  private constructor(cache: ShardedFlowCache, options: MonitorOptions, say: (text: string) => void) {
    this.#cache = cache;
    const { source } = options;
    this.source =
      'listen' in source ? new UdpSource({ address: source.listen }) : new CaptureSource({ path: source.capture });
    this.#collector = new Collector({
      sources: [this.source],
      sinks: [new Dispatch(cache)],
      onProblem: ({ where, error }) => say(`${where}: ${error.message}`),
    });
    this.finished = this.#collector.finished;
    const setup: WriterSetup = {
      entries: cache.shards.map(({ entries }) => entries.buffer as SharedArrayBuffer),
      events: cache.shards.map(({ events }) => events.buffer as SharedArrayBuffer),
      geometry: cache.geometry,
      redis: options.redis === null ? null : { url: options.redis, prefix: options.prefix, form: options.form },
    };
    this.#patienceMs = options.patienceMs;
    this.#writer = new Worker(new URL('./writer.js', import.meta.url), { workerData: setup });
    this.#ended = new Promise((resolve, reject) => {
      this.#writer.once('error', reject);
      this.#writer.on('message', (message: WriterMessage) => {
        if (message.kind === 'problem' || message.kind === 'recovered') say(message.text);
        else {
          this.#written = message.totals;
          for (const answer of this.#asked.splice(0)) answer();
          if (message.kind === 'end') resolve(message.totals);
        }
      });
    });
    // Whoever stops is told.
    this.#ended.catch(() => undefined);
  }

  /**
   * @param say is told of problems and when they are over
   * @throws SourceError if the source cannot be opened; ShardError if a worker cannot start
   */
  static async start(options: MonitorOptions, say: (text: string) => void): Promise<Monitor> {
    const { shards, rows, ringRecords, idleNs, thresholds } = options;
    const cache = await ShardedFlowCache.open({
      thresholds,
      distributions: {},
      ...(shards === undefined ? {} : { shards }),
      ...(rows === undefined ? {} : { rows }),
      ...(ringRecords === undefined ? {} : { entryRecords: ringRecords, eventRecords: ringRecords }),
      ...(idleNs === undefined ? {} : { idleNs }),
      onFailure: (error) => say(error.message),
    });
    const monitor = new Monitor(cache, options, say);
    try {
      await monitor.#collector.start();
    } catch (error) {
      await monitor.stop();
      throw error;
    }
    monitor.#flushing = setInterval(() => cache.flush(), FLUSH_MS);
    return monitor;
  }

  /** What is an event: changed here, it is changed in all shards. */
  get thresholds(): Thresholds {
    return this.#cache.thresholds;
  }

  /** How values are spread, over all shards. */
  distributions(): Promise<Distributions> {
    return this.#cache.distributions();
  }

  /** What is known of a flow now. @throws AddressError or RangeError if it is none */
  flow(flow: Flow): Promise<FlowEntry | undefined> {
    return this.#cache.get(flow);
  }

  /** The counters now. */
  async totals(): Promise<MonitorTotals> {
    if (this.#stopping !== null) return this.#stopping;
    const flows = await this.#cache.totals();
    await Promise.race([new Promise<void>((resolve) => this.#ask(resolve)), this.#ended]);
    return { frames: this.#collector.totals(), flows, written: this.#written };
  }

  /**
   * Stops without losing anything: the source first, then the shards, whose flows all go through the rings, then the
   * writer, when the rings are empty.
   */
  stop(): Promise<MonitorTotals> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<MonitorTotals> {
    const frames = await this.#collector.stop();
    clearInterval(this.#flushing);
    this.#tell({ kind: 'hurry', patienceMs: this.#patienceMs });
    this.#cache.flush();
    if (this.#cache.failures.length === 0) await this.#cache.drain();
    const flows = await this.#cache.stop();
    const written = await this.#ended;
    if (this.#writer.threadId > 0) await once(this.#writer, 'exit');
    return { frames, flows, written };
  }

  #ask(answer: () => void): void {
    this.#asked.push(answer);
    this.#tell({ kind: 'totals' });
  }

  #tell(order: WriterOrder): void {
    this.#writer.postMessage(order);
  }
}
