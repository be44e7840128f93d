/** Spreads reports over threads by flow: the part in each thread. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Arena, TelemetryBatch } from '@int/codec';
import { deferred } from '../deferred.js';
import type { Push } from '../frames.js';
import { Collector } from '../pipeline.js';
import type { CollectorOptions } from '../pipeline-options.js';
import type { Source } from '../source/source.js';
import type { FromWorker, ToWorker, WorkerSetup } from './protocol.js';

/** The context of a thread. */
export interface FlowWorkerContext {
  /** 0 to `count - 1`. */
  readonly index: number;
  readonly count: number;
  /** As given to {@link FlowWorkers.start}. */
  readonly data: unknown;
  /** To `onData` of {@link FlowWorkers}. */
  post(data: unknown): void;
}

/** The stages and sinks of a thread. */
export interface FlowWorkerParts extends Pick<CollectorOptions, 'stages' | 'sinks' | 'memory'> {
  /** Called between two batches with the data of {@link FlowWorkers.post}. */
  readonly onData?: (data: unknown) => void;
  /** Called after the last report, before the sinks close. Lets stages hand on their records. */
  readonly onDrain?: () => void;
}

/** Interval at which a thread sends its counters and states, in milliseconds. */
const STATE_MS = 200;

/**
 * Makes this thread one of {@link FlowWorkers}. Their `module` calls it once.
 * @param build makes the stages and sinks of this thread
 * @throws Error outside of such a thread; what `build` throws
 */
export async function serveFlowWorker(
  build: (context: FlowWorkerContext) => FlowWorkerParts | Promise<FlowWorkerParts>,
): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('serveFlowWorker runs in a thread of FlowWorkers');
  const setup = workerData as WorkerSetup;
  const tell = (message: FromWorker): void => port.postMessage(message);
  const { index, count, data } = setup;
  const parts = await build({ index, count, data, post: (value) => tell({ name: 'data', data: value }) });
  const source = new SlabSource(setup);
  const collector = new Collector({
    sources: [source],
    ...parts,
    onProblem: ({ where, error }) => tell({ name: 'problem', where, message: error.message }),
  });
  await collector.start();
  const telling = setInterval(
    () => tell({ name: 'state', totals: collector.totals(), degraded: collector.degraded() }),
    STATE_MS,
  );
  const timeoutMs = await new Promise<number | null>((resolve) => {
    listen(port, source, parts, tell, resolve);
    tell({ name: 'ready' });
  });
  clearInterval(telling);
  await source.settled();
  parts.onDrain?.();
  tell({ name: 'done', totals: await collector.stop(timeoutMs ?? undefined) });
  port.close();
}

function listen(
  port: MessagePort,
  source: SlabSource,
  parts: FlowWorkerParts,
  tell: (message: FromWorker) => void,
  stop: (timeoutMs: number | null) => void,
): void {
  port.on('message', (message: ToWorker) => {
    if (message.name === 'stop') stop(message.timeoutMs);
    else if (message.name === 'data') void source.settled().then(() => parts.onData?.(message.data));
    else if (message.name === 'advance') source.advance(message.timeMs);
    else void source.take(message.slab).then(() => tell({ name: 'free', slab: message.slab }));
  });
}

/** Batches in shared memory, one after the other. */
class SlabSource implements Source {
  readonly name = 'slabs';
  readonly overrun = 0;
  readonly kernelDropped = null;
  readonly #end = deferred();
  readonly finished: Promise<void> = this.#end.promise;
  readonly #slabs: readonly TelemetryBatch[];
  #push: Push = () => undefined;
  #last: Promise<void> = Promise.resolve();
  /** The time last told by the pipeline, after the slabs before it. */
  #lowMs: number | null = null;

  constructor({ slabs, capacity }: WorkerSetup) {
    this.#slabs = slabs.map((buffer) => new TelemetryBatch(capacity, new Arena(buffer)));
  }

  async start(push: Push): Promise<void> {
    this.#push = push;
  }

  lowTimeMs(): number | null {
    return this.#lowMs;
  }

  /** No slab taken from now on has frames with an earlier time. */
  advance(timeMs: number): void {
    this.#last = this.#last.then(() => {
      this.#lowMs = timeMs;
    });
  }

  /** Resolves when the slabs taken so far are processed. */
  settled(): Promise<void> {
    return this.#last;
  }

  async stop(): Promise<void> {
    await this.#last;
    this.#end.resolve();
  }

  /** @returns when the pipeline is done with the slab */
  take(slab: number): Promise<void> {
    this.#last = this.#last.then(() => this.#push(this.#slabs[slab]!));
    return this.#last;
  }
}
