import type { TelemetryBatch, TelemetryRecord } from '@int/codec';
import { Detector, type DetectorConfig, type DetectorOptions, EventBatch } from '@int/detect';
import type { Plan } from './cases.js';
import { mixEvents } from './checksum.js';
import type { Outcome } from './native.js';
import { type ObjectDetector, type ObjectEvent, objectDetector } from './objects.js';
import type { Work } from './workload.js';

/**
 * Nanoseconds of a call: elapsed time or processor time, whichever is less. Other load on the machine adds to the
 * first, helper threads of the engine add to the second. The C program does the same.
 */
export function time(run: () => void): number {
  const cpu = process.cpuUsage();
  const start = process.hrtime.bigint();
  run();
  const elapsed = Number(process.hrtime.bigint() - start);
  const used = process.cpuUsage(cpu);
  return Math.min(elapsed, (used.user + used.system) * 1000);
}

/** The hot path of @int/detect over batches. */
export class Columns {
  readonly detector: Detector;
  readonly #events: EventBatch;
  readonly #batches: readonly TelemetryBatch[];

  constructor(config: DetectorConfig, batches: readonly TelemetryBatch[], options: DetectorOptions = {}) {
    this.detector = Detector.of(config, options);
    this.#events = new EventBatch(batches[0]!.capacity.hops, options.memory?.arena);
    this.#batches = batches;
  }

  /** One turn over all reports. */
  turn(then: ((events: EventBatch, batch: TelemetryBatch) => void) | null): void {
    const { detector } = this;
    const events = this.#events;
    for (const batch of this.#batches) {
      for (let from = 0; from < batch.reports; ) {
        events.clear();
        from = detector.detect(batch, events, from);
        if (then !== null) then(events, batch);
      }
    }
  }

  /** Makes turns and goes through the events, as the C program does when asked to check. */
  check(turns: number, kind: Plan['kind']): Outcome {
    const before = this.detector.totals();
    let checksum = 0;
    for (let k = 0; k < turns; k++) {
      this.turn((events) => {
        checksum = mixEvents(checksum, events, kind);
      });
    }
    const after = this.detector.totals();
    return {
      reports: after.reports - before.reports,
      survivors: after.survivors - before.survivors,
      events: after.events - before.events,
      checksum: checksum >>> 0,
    };
  }
}

/** A detector over records, and what it found in one turn. */
export interface Objects {
  turn(): number;
}

/** The comfort path of @int/detect: events as objects. */
export function observing(config: DetectorConfig, records: readonly TelemetryRecord[]): Objects {
  const detector = Detector.of(config);
  return {
    turn: () => {
      let count = 0;
      for (const record of records) count += detector.observe(record).length;
      return count;
    },
  };
}

/** Records, Maps and events as objects; the events of as many reports as a batch has are kept at a time. */
export function mapping(config: DetectorConfig, { records, batches }: Work): Objects {
  const detect: ObjectDetector = objectDetector(config);
  const size = batches[0]!.reports;
  return {
    turn: () => {
      let count = 0;
      for (let from = 0; from < records.length; from += size) {
        const events: ObjectEvent[] = [];
        for (let row = 0; row < size; row++) detect(records[from + row]!, row, events);
        count += events.length;
      }
      return count;
    },
  };
}

/**
 * Compares the events of the two ways that make objects with the rows of the hot path, one by one, in two turns from
 * zeroed state.
 */
export function checkObjects(config: DetectorConfig, work: Work): void {
  const columns = new Columns(config, work.batches);
  const comfort = Detector.of(config);
  const detect = objectDetector(config);
  for (let turn = 0; turn < 2; turn++) {
    let next = 0;
    columns.turn((events, batch) => {
      const made: ObjectEvent[] = [];
      const observed: { report: number; event: ReturnType<Detector['observe']>[number] }[] = [];
      for (let row = 0; row < batch.reports; row++) {
        const record = work.records[next++]!;
        detect(record, row, made);
        for (const event of comfort.observe(record)) observed.push({ report: row, event });
      }
      if (made.length !== events.count || observed.length !== events.count) {
        throw new Error(
          `${config.kind}: ${events.count} events, ${made.length} with Maps, ${observed.length} observed`,
        );
      }
      for (let k = 0; k < events.count; k++) {
        const row = events.event(k);
        const map = made[k]!;
        const { report, event } = observed[k]!;
        const same =
          map.report === events.report[k] &&
          report === events.report[k] &&
          [map, event].every(
            (other) =>
              other.detector === row.detector &&
              other.metric === row.metric &&
              other.nodeId === row.nodeId &&
              other.hop === row.hop &&
              other.value === row.value &&
              other.previous === row.previous,
          ) &&
          event.threshold === row.threshold;
        if (!same) throw new Error(`${config.kind}: event ${k} differs`);
      }
    });
  }
}
