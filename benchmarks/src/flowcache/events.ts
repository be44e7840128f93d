/** Throughput against the rate of events, and how many threads it takes to read them. */
import { EVENT_WORDS, type RecordConsumer } from '@int/flowcache';
import type { SpscRing } from '@int/rings';
import { median } from '../decode/statistics.js';
import { ReadRing, type Work } from './reading.js';
import { setScene, turn } from './scene.js';
import { HOPS, MEAN_VALUE } from './workload.js';

/** Events per report that are aimed at: one threshold, on queue occupancy, at every hop. */
const AIMS = [0, 0.125, 0.25, 0.5, 1, 1.5, 2, 3, 4] as const;

/** Where a sink's records go: into a ring, waiting for room, or counting what finds none as lost. */
class RingConsumer implements RecordConsumer {
  readonly #ring: SpscRing;
  waits = false;
  lost = 0;
  pushed = 0;

  constructor(ring: SpscRing) {
    this.#ring = ring;
  }

  push(words: Int32Array, at: number, records: number): number {
    const ring = this.#ring;
    let taken = ring.push(words, at, records);
    while (this.waits && taken < records) {
      ring.waitForRoom(ring.capacity >> 1);
      taken += ring.push(words, at + taken * EVENT_WORDS, records - taken);
    }
    this.pushed += taken;
    this.lost += records - taken;
    return taken;
  }
}

export interface RatePoint {
  /** Events per report, as they came out. */
  readonly perReport: number;
  /** With every event delivered: the cache waits where the ring is full. */
  readonly reportsPerSecond: number;
  readonly eventsPerSecond: number;
  /** Without waiting: share of the events for which there was no room, at full speed. */
  readonly lost: number;
  readonly reportsPerSecondLosing: number;
}

/** The threshold that a queue occupancy of the workload exceeds with probability `share`. */
function occupancyAbove(share: number): number {
  return Math.floor(-Math.log(share) * MEAN_VALUE) >>> 3;
}

/** Figure 3(b): a lower threshold, more events, through a ring to a thread that reads it. */
export async function measureRates(
  path: string,
  rows: number,
  batches: number,
  turns: number,
  rounds: number,
): Promise<RatePoint[]> {
  const reader = await ReadRing.start('drain');
  const sink = new RingConsumer(reader.ring);
  const { cache, batches: made, reports: ofTurn } = setScene({ path, rows, batches, cache: { events: sink } });
  const reports = turns * ofTurn;
  const points: RatePoint[] = [];
  for (const aim of AIMS) {
    cache.thresholds.set('queueOccupancy', { level: aim === 0 ? null : occupancyAbove(aim / HOPS) });
    const waiting: number[] = [];
    const losing: number[] = [];
    let events = 0;
    let lost = 0;
    for (let round = -1; round < rounds; round++) {
      for (const waits of [true, false]) {
        sink.waits = waits;
        sink.lost = 0;
        sink.pushed = 0;
        let elapsed = 0;
        for (let k = 0; k < turns; k++) elapsed += turn(cache, made);
        if (round >= 0) (waits ? waiting : losing).push(elapsed);
        if (waits) events = sink.pushed;
        else if (round >= 0) lost += sink.lost;
        reader.settle();
      }
    }
    points.push({
      perReport: events / reports,
      reportsPerSecond: (reports * 1000) / median(waiting),
      eventsPerSecond: (events * 1000) / median(waiting),
      lost: events === 0 ? 0 : lost / (rounds * events),
      reportsPerSecondLosing: (reports * 1000) / median(losing),
    });
  }
  await reader.stop();
  return points;
}

export interface ReadersPoint {
  readonly work: Work;
  readonly eventsPerSecond: number;
  /** Fewest readers with which no event was lost; `null` if it was more than the most that were tried. */
  readonly readers: number | null;
  /** Share of the events lost, with 1, 2, ... readers. */
  readonly lost: number[];
}

/** Pushes records at a rate, spread over rings, for a time. Returns the share that found no room. */
function pushPaced(records: Int32Array, rings: readonly SpscRing[], perSecond: number, milliseconds: number): number {
  const held = records.length / EVENT_WORDS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const start = performance.now();
  let pushed = 0;
  let lost = 0;
  let ring = 0;
  let at = 0;
  while (true) {
    const elapsed = performance.now() - start;
    if (elapsed >= milliseconds) return lost / pushed;
    for (let due = Math.floor((elapsed / 1000) * perSecond) - pushed; due > 0; ) {
      const count = Math.min(due, 64, held - at);
      lost += count - rings[ring]!.push(records, at * EVENT_WORDS, count);
      pushed += count;
      due -= count;
      at = at + count === held ? 0 : at + count;
      ring = ring + 1 === rings.length ? 0 : ring + 1;
    }
    Atomics.wait(pause, 0, 0, 0.5);
  }
}

/**
 * Figure 4: at which rates one reader, two, ... keep up. Events that a cache has raised are pushed into a ring for each
 * reader by a thread that does nothing else, as the card does in the paper.
 */
export async function measureReaders(
  path: string,
  work: Work,
  rates: readonly number[],
  most: number,
  milliseconds: number,
): Promise<ReadersPoint[]> {
  const records = captureEvents(path);
  const points: ReadersPoint[] = [];
  for (const eventsPerSecond of rates) {
    const lost: number[] = [];
    let readers: number | null = null;
    for (let count = 1; count <= most && readers === null; count++) {
      const readings: ReadRing[] = [];
      for (let k = 0; k < count; k++) readings.push(await ReadRing.start(work));
      const rings = readings.map(({ ring }) => ring);
      // Warm: the readers' code is compiled.
      pushPaced(records, rings, Math.min(eventsPerSecond, 400_000), milliseconds / 2);
      for (const reading of readings) reading.settle();
      lost.push(pushPaced(records, rings, eventsPerSecond, milliseconds));
      for (const reading of readings) await reading.stop();
      if (lost.at(-1) === 0) readers = count;
    }
    points.push({ work, eventsPerSecond, readers, lost });
    if (readers === null) break;
  }
  return points;
}

/** Events of a cache of some thousand flows, two a report. */
function captureEvents(path: string): Int32Array {
  const kept = new Int32Array(65_536 * EVENT_WORDS);
  let count = 0;
  const sink: RecordConsumer = {
    push: (words, at, records) => {
      const room = Math.min(records, kept.length / EVENT_WORDS - count);
      kept.set(words.subarray(at, at + room * EVENT_WORDS), count * EVENT_WORDS);
      count += room;
      return records;
    },
  };
  const { cache, batches } = setScene({ path, rows: 4096, batches: 16, cache: { events: sink } });
  cache.thresholds.set('queueOccupancy', { level: occupancyAbove(0.4) });
  while (count < kept.length / EVENT_WORDS) turn(cache, batches);
  return kept;
}
