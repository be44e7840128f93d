/** Threads that read rings of events: what they do with a record, and how the main thread starts and stops them. */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { DEFAULT_METRICS, EVENT_KIND, EVENT_WORD, EVENT_WORDS, readFlowEvent } from '@int/flowcache';
import { SpscRing } from '@int/rings';

/** The bundle lies in benchmarks/dist. */
const READER = fileURLToPath(new URL('./flowcache-reader.js', import.meta.url));

/** Records of a ring of events, as the paper has it. */
const RING_RECORDS = 65_536;

/**
 * What is done with a record.
 *
 * - `drain`: it is copied out of the ring.
 * - `words`: per switch and metric, events are counted, and the sum and the maximum of their values are kept.
 * - `objects`: the record becomes an object with addresses as text; the same is kept of it, and a count per flow.
 */
export type Work = 'drain' | 'words' | 'objects';

export interface ReaderSetup {
  readonly buffer: SharedArrayBuffer;
  readonly work: Work;
}

interface Aggregate {
  count: number;
  sum: number;
  max: number;
}

function add(aggregates: Map<number, Aggregate>, key: number, value: number): void {
  const aggregate = aggregates.get(key);
  if (aggregate === undefined) {
    aggregates.set(key, { count: 1, sum: value, max: value });
    return;
  }
  aggregate.count++;
  aggregate.sum += value;
  if (value > aggregate.max) aggregate.max = value;
}

/** Records that are copied out of a ring at once. */
const COPIED = 1024;
/** Flows that are counted; when there are more, counting begins anew. */
const MOST_FLOWS = 100_000;

/** Reads a ring until it is closed and empty. */
export function read({ buffer, work }: ReaderSetup): void {
  const ring = SpscRing.attach(buffer);
  const copies = new Int32Array(COPIED * ring.recordWords);
  const bySwitch = new Map<number, Aggregate>();
  const byFlow = new Map<string, number>();
  while (ring.wait() === 'ready') {
    if (work === 'drain') {
      ring.pop(copies, 0, COPIED);
      continue;
    }
    const records = ring.readable(1024);
    const { words, readAt } = ring;
    for (let record = 0; record < records; record++) {
      const at = readAt + record * EVENT_WORDS;
      if (work === 'words') {
        const metric = (words[at + EVENT_WORD.KIND]! >>> EVENT_KIND.METRIC_SHIFT) & EVENT_KIND.METRIC_MASK;
        add(bySwitch, words[at + EVENT_WORD.NODE]! * 8 + metric, words[at + EVENT_WORD.VALUE]! >>> 0);
      } else {
        const { flow, nodeId, metric, value } = readFlowEvent(words, at, DEFAULT_METRICS);
        add(bySwitch, (nodeId ?? -1) * 8 + DEFAULT_METRICS.indexOf(metric as (typeof DEFAULT_METRICS)[0]), value);
        if (byFlow.size === MOST_FLOWS) byFlow.clear();
        const key = `${flow.source} ${flow.destination} ${flow.protocol} ${flow.sourcePort} ${flow.destinationPort}`;
        byFlow.set(key, (byFlow.get(key) ?? 0) + 1);
      }
    }
    ring.release(records);
  }
}

/** A ring with a thread that reads it; of events, unless records of another size are only drained. */
export class ReadRing {
  readonly ring: SpscRing;
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;

  private constructor(work: Work, recordWords: number) {
    const buffer = new SharedArrayBuffer(SpscRing.byteLength(recordWords, RING_RECORDS));
    this.ring = new SpscRing({ recordWords, capacity: RING_RECORDS, buffer });
    this.#worker = new Worker(READER, { workerData: { buffer, work } satisfies ReaderSetup });
    this.#ended = new Promise((resolve, reject) => {
      this.#worker.once('error', reject);
      this.#worker.once('exit', resolve);
    });
  }

  static async start(work: Work, recordWords: number = EVENT_WORDS): Promise<ReadRing> {
    const reading = new ReadRing(work, recordWords);
    await new Promise((resolve) => reading.#worker.once('online', resolve));
    return reading;
  }

  /** Waits until all is read, and ends the thread. */
  async stop(): Promise<void> {
    this.ring.close();
    await this.#ended;
  }

  /** Waits until all that was pushed is read. */
  settle(): void {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    while (this.ring.length > 0) Atomics.wait(pause, 0, 0, 1);
  }
}
