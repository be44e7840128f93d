/** Part of the study that depends on the machine: reports a second on one core. */
import { AcceleratorMemory, BatchDecoder, type TelemetryBatch } from '@int/codec';
import { Detector, EventBatch } from '@int/detect';
import { burstQueue, type WorkloadName } from '@int/traffic';
import { DECODE_OPTIONS, type Frames, QueueFrames, SHAPES, shapeFrames, shapeFramesBytes } from './frames.js';
import { MessageWriter } from './message.js';
import {
  DETECTORS,
  type Effort,
  HOT,
  type StudyDetector,
  THRESHOLDS_US,
  UNITS_PER_US,
  WORKLOAD_NAMES,
} from './plan.js';
import { BATCH, configOf, DETECTOR_BYTES, DETECTOR_OPTIONS } from './trace.js';

/** Nanoseconds per report over the rounds. */
export interface Nanoseconds {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The monitor on reports of one shape. */
export interface MonitorRate {
  readonly hops: number;
  readonly items: number;
  /** Bytes of a frame, and of its message on average. */
  readonly frameBytes: number;
  readonly messageBytes: number;
  /** Decoding alone, and decoding and building the message. */
  readonly decode: Nanoseconds;
  readonly total: Nanoseconds;
  readonly reportsPerSecond: number;
}

/** The collector on one workload's reports, with or without a detector before its messages. */
export interface CollectorRate {
  readonly workload: WorkloadName;
  /** `null`: no detector, a message for every report. */
  readonly detector: StudyDetector | null;
  readonly thresholdUs: number | null;
  /** Share of the reports in the timed piece of the trace that got a message. */
  readonly messages: number;
  readonly time: Nanoseconds;
  readonly reportsPerSecond: number;
}

/** The rates of a machine. */
export interface RateFigures {
  readonly monitor: readonly MonitorRate[];
  /** Decoding alone, per workload. */
  readonly decode: readonly { readonly workload: WorkloadName; readonly time: Nanoseconds }[];
  readonly collector: readonly CollectorRate[];
}

/** Something that goes through all its reports. */
interface Contender {
  readonly reports: number;
  pass(): void;
}

/** @returns elapsed time or processor time, whichever is less: other load adds to the first, helper threads to the second */
function time(run: () => void): number {
  const cpu = process.cpuUsage();
  const start = process.hrtime.bigint();
  run();
  const elapsed = Number(process.hrtime.bigint() - start);
  const used = process.cpuUsage(cpu);
  return Math.min(elapsed, (used.user + used.system) * 1000);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >>> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Lets contenders take turns, each round beginning with another one. */
function race(contenders: readonly Contender[], { rounds, warmUp }: Effort): Nanoseconds[] {
  const times = contenders.map((): number[] => []);
  for (let round = -warmUp; round < rounds; round++) {
    for (let k = 0; k < contenders.length; k++) {
      const turn = (k + Math.max(0, round)) % contenders.length;
      const { reports } = contenders[turn]!;
      const nanoseconds = time(() => contenders[turn]!.pass()) / reports;
      if (round >= 0) times[turn]!.push(nanoseconds);
    }
  }
  return times.map((list) => ({ median: median(list), min: Math.min(...list), max: Math.max(...list) }));
}

const perSecond = ({ median: nanoseconds }: Nanoseconds): number => 1e9 / nanoseconds;

/** A monitor: frames in memory, decoded a batch at a time; then messages, which are dropped. */
class Monitor {
  readonly batch: TelemetryBatch;
  readonly #decoder: BatchDecoder;
  readonly #writer: MessageWriter;

  constructor(memory: AcceleratorMemory) {
    this.batch = memory.batch({ frames: BATCH, hops: BATCH * 4 });
    this.#decoder = new BatchDecoder({ ...DECODE_OPTIONS, memory });
    this.#writer = new MessageWriter(this.batch);
  }

  /** Decodes all frames, giving each batch to `then`. */
  each(frames: Frames, then: () => void): void {
    const { bytes, offsets, lengths } = frames;
    for (let from = 0; from < offsets.length; ) {
      this.batch.clear();
      const to = Math.min(offsets.length, from + BATCH);
      if (
        this.#decoder.decode(this.batch, { bytes, offsets, lengths }, from, to) !== to ||
        this.batch.reports !== to - from
      ) {
        throw new Error('a report was not decoded');
      }
      then();
      from = to;
    }
  }

  /** Builds the messages of all reports of the batch. @returns their bytes */
  writeAll(): number {
    let bytes = 0;
    for (let row = 0; row < this.batch.reports; row++) bytes += this.#writer.write(row);
    return bytes;
  }

  /** Builds a message for each report that has an event. @returns how many */
  writeSurvivors(events: EventBatch): number {
    let before = -1;
    let messages = 0;
    for (let k = 0; k < events.count; k++) {
      const row = events.report[k]!;
      if (row === before) continue;
      before = row;
      this.#writer.write(row);
      messages++;
    }
    return messages;
  }
}

function measureMonitor(effort: Effort): MonitorRate[] {
  const { shapeReports, seed } = effort;
  const memory = new AcceleratorMemory((16 << 20) + shapeFramesBytes(shapeReports));
  const monitor = new Monitor(memory);
  const works = SHAPES.map((shape) => {
    const frames = shapeFrames(memory, shape, shapeReports, seed);
    let messageBytes = 0;
    const decode: Contender = { reports: shapeReports, pass: () => monitor.each(frames, () => {}) };
    const total: Contender = {
      reports: shapeReports,
      pass: () => {
        messageBytes = 0;
        monitor.each(frames, () => {
          messageBytes += monitor.writeAll();
        });
      },
    };
    return { ...shape, frameBytes: frames.lengths[0]!, decode, total, bytes: () => messageBytes / shapeReports };
  });
  const times = race(
    works.flatMap(({ decode, total }) => [decode, total]),
    effort,
  );
  return works.map(({ hops, items, frameBytes, bytes }, k) => ({
    hops,
    items,
    frameBytes,
    messageBytes: bytes(),
    decode: times[2 * k]!,
    total: times[2 * k + 1]!,
    reportsPerSecond: perSecond(times[2 * k + 1]!),
  }));
}

/** The first reports of a workload's trace, as frames. */
function traceFrames(memory: AcceleratorMemory, workload: WorkloadName, { traceReports, seed }: Effort): Frames {
  const frames = new QueueFrames(memory, traceReports);
  let count = 0;
  for (const occupancyUs of burstQueue(workload, { slots: traceReports, hot: HOT, seed })) {
    frames.set(count, count, Math.round(occupancyUs * UNITS_PER_US));
    if (++count === traceReports) break;
  }
  return frames;
}

function measureCollector(effort: Effort): Pick<RateFigures, 'decode' | 'collector'> {
  const { traceReports } = effort;
  const detectors = WORKLOAD_NAMES.length * DETECTORS.length * THRESHOLDS_US.length;
  const frameBytes = WORKLOAD_NAMES.length * (traceReports * (QueueFrames.frameBytes + 8) + 256);
  const memory = new AcceleratorMemory((16 << 20) + frameBytes + detectors * DETECTOR_BYTES);
  const monitor = new Monitor(memory);
  const events = new EventBatch(BATCH, memory.arena);
  const decodes: Contender[] = [];
  const works: (Contender & Pick<CollectorRate, 'workload' | 'detector' | 'thresholdUs'> & { messages: number })[] = [];
  for (const workload of WORKLOAD_NAMES) {
    const frames = traceFrames(memory, workload, effort);
    decodes.push({ reports: traceReports, pass: () => monitor.each(frames, () => {}) });
    const everything = {
      workload,
      detector: null,
      thresholdUs: null,
      reports: traceReports,
      messages: traceReports,
      pass: () =>
        monitor.each(frames, () => {
          monitor.writeAll();
        }),
    };
    works.push(everything);
    for (const detector of DETECTORS) {
      for (const thresholdUs of THRESHOLDS_US) {
        const filter = Detector.of(configOf(detector, thresholdUs), { ...DETECTOR_OPTIONS, memory });
        const work = {
          workload,
          detector,
          thresholdUs,
          reports: traceReports,
          messages: 0,
          pass: () => {
            work.messages = 0;
            monitor.each(frames, () => {
              events.clear();
              filter.detect(monitor.batch, events);
              work.messages += monitor.writeSurvivors(events);
            });
          },
        };
        works.push(work);
      }
    }
  }
  const times = race([...decodes, ...works], effort);
  return {
    decode: WORKLOAD_NAMES.map((workload, k) => ({ workload, time: times[k]! })),
    collector: works.map(({ workload, detector, thresholdUs, messages }, k) => {
      const nanoseconds = times[decodes.length + k]!;
      return {
        workload,
        detector,
        thresholdUs,
        messages: messages / traceReports,
        time: nanoseconds,
        reportsPerSecond: perSecond(nanoseconds),
      };
    }),
  };
}

/** @param say told what is being done */
export function measureRates(effort: Effort, say: (text: string) => void): RateFigures {
  say('rates: the monitor, by hops and items');
  const monitor = measureMonitor(effort);
  say('rates: the collector, by workload, detector and threshold');
  return { monitor, ...measureCollector(effort) };
}
