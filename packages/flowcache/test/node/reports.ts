import { TelemetryBatch } from '@int/codec';
import { fillRandom, Random, type Traffic } from '../kernel/random-batch.js';

/** Reports as decoders leave them, some damaged, some without a flow. */
export const TRAFFIC: Traffic = {
  flows: 300,
  ipv6: 0.3,
  odd: 0.1,
  missing: 0.05,
  detour: 0.1,
  hops: 6,
  scattered: false,
  shuffledFrames: false,
};

/** A batch of random reports with the times of its frames. */
export interface Reports {
  readonly batch: TelemetryBatch;
  readonly input: { readonly timestampsHigh: Uint32Array; readonly timestampsLow: Uint32Array; readonly first: number };
}

/** Where time begins, in nanoseconds; each frame is a microsecond after the one before. */
export const START_NS = 0x1780_0000_0000_0000n;
const STEP_NS = 1000n;

/**
 * Fills a new batch, and leaves some rows of times before those of its frames.
 * @param at how many frames came before
 */
export function randomReports(random: Random, reports: number, traffic: Partial<Traffic> = {}, at = 0): Reports {
  const batch = new TelemetryBatch({ frames: reports, hops: Math.max(256, reports * 12) });
  const rows = fillRandom(batch, reports, { ...TRAFFIC, ...traffic }, random);
  batch.state[0] = rows;
  batch.state[1] = rows;
  batch.state[2] = batch.capacity.hops;
  const first = random.below(5);
  // Frames that brought no report lie between the others.
  const frames = first + 3 * reports;
  const timestampsHigh = new Uint32Array(frames);
  const timestampsLow = new Uint32Array(frames);
  for (let frame = 0; frame < frames; frame++) {
    const timeNs = START_NS + BigInt(at + frame) * STEP_NS;
    timestampsHigh[frame] = Number(timeNs >> 32n);
    timestampsLow[frame] = Number(timeNs & 0xffffffffn);
  }
  return { batch, input: { timestampsHigh, timestampsLow, first } };
}

export { Random };
