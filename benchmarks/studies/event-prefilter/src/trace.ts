/** Which reports of a trace survive: the packets of one queue, through decoder and detectors, counted. */
import { AcceleratorMemory, BatchDecoder, type TelemetryBatch } from '@int/codec';
import { Detector, type DetectorConfig, EventBatch } from '@int/detect';
import { burstQueue, type WorkloadName } from '@int/traffic';
import { DECODE_OPTIONS, QueueFrames } from './frames.js';
import { type StudyDetector, UNITS_PER_US, WEIGHT } from './plan.js';

/** Reports decoded in one call. */
export const BATCH = 2048;

/** State of one flow over one switch, and little more. */
export const DETECTOR_OPTIONS = { flowCells: 256, switchCells: 256, cachedFlows: 8, maxRules: 2 } as const;
/** Memory of one detector with its kernel, at most. */
export const DETECTOR_BYTES = 128 * 1024;

/** A detector with a threshold in microseconds of queue. */
export function configOf(detector: StudyDetector, thresholdUs: number): DetectorConfig {
  const common = { metric: 'queueOccupancy', threshold: Math.round(thresholdUs * UNITS_PER_US) } as const;
  return detector === 'movingAverage'
    ? { kind: 'movingAverage', weight: WEIGHT, ...common }
    : { kind: detector, ...common };
}

/** What one detector let through. */
export interface Survivors {
  readonly detector: StudyDetector;
  readonly thresholdUs: number;
  /** Reports with an event. */
  readonly events: number;
  /** A hash of which packets these were. */
  readonly checksum: number;
}

/** A trace and what became of it. */
export interface TraceResult {
  readonly packets: number;
  /** Mean of what the packets find in the queue, in microseconds. */
  readonly meanQueueUs: number;
  readonly survivors: readonly Survivors[];
}

export interface TraceOptions {
  readonly workload: WorkloadName;
  readonly hot: number;
  readonly slots: number;
  readonly seed: number;
}

/** A detector at work, and its count. */
class Watch {
  readonly #detector: Detector;
  readonly #events: EventBatch;
  #count = 0;
  #checksum = 0x811c9dc5;

  constructor(
    readonly detector: StudyDetector,
    readonly thresholdUs: number,
    memory: AcceleratorMemory,
    events: EventBatch,
  ) {
    this.#detector = Detector.of(configOf(detector, thresholdUs), { ...DETECTOR_OPTIONS, memory });
    this.#events = events;
  }

  /** @param first number of the batch's first packet */
  look(batch: TelemetryBatch, first: number): void {
    const events = this.#events;
    events.clear();
    if (this.#detector.detect(batch, events) !== batch.reports) throw new Error('the events do not fit');
    // With one hop there is one event a report at most.
    const { count, report } = events;
    let checksum = this.#checksum;
    for (let k = 0; k < count; k++) checksum = Math.imul(checksum ^ (first + report[k]!), 0x01000193);
    this.#checksum = checksum;
    this.#count += count;
  }

  result(): Survivors {
    const { detector, thresholdUs } = this;
    return { detector, thresholdUs, events: this.#count, checksum: this.#checksum >>> 0 };
  }
}

/** Runs one workload's queue through all given detectors at once. */
export function runTrace(
  { workload, hot, slots, seed }: TraceOptions,
  wanted: readonly (readonly [StudyDetector, thresholdUs: number])[],
): TraceResult {
  const memory = new AcceleratorMemory((8 << 20) + wanted.length * DETECTOR_BYTES);
  const frames = new QueueFrames(memory, BATCH);
  const batch = memory.batch({ frames: BATCH, hops: BATCH });
  const events = new EventBatch(BATCH, memory.arena);
  const decoder = new BatchDecoder({ ...DECODE_OPTIONS, memory });
  const watches = wanted.map(([detector, thresholdUs]) => new Watch(detector, thresholdUs, memory, events));
  let packets = 0;
  let waiting = 0;
  let sum = 0;
  const flush = (): void => {
    batch.clear();
    decoder.decode(batch, frames, 0, waiting);
    if (batch.hops !== waiting) throw new Error('a report was not decoded');
    for (const watch of watches) watch.look(batch, packets - waiting);
    waiting = 0;
  };
  for (const occupancyUs of burstQueue(workload, { slots, hot, seed })) {
    frames.set(waiting++, packets++, Math.round(occupancyUs * UNITS_PER_US));
    sum += occupancyUs;
    if (waiting === BATCH) flush();
  }
  flush();
  return { packets, meanQueueUs: sum / packets, survivors: watches.map((watch) => watch.result()) };
}
