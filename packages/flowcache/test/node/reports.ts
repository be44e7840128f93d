import { STATE, TelemetryBatch } from '@int/codec';
import { fillRandom, Random, type Traffic } from '../accelerator/random-batch.js';
import { withTimes } from '../cache/times.js';

/** Reports as decoders leave them, some damaged, some without a flow. */
const TRAFFIC: Traffic = {
  flows: 300,
  ipv6: 0.3,
  odd: 0.1,
  missing: 0.05,
  detour: 0.1,
  hops: 6,
  scattered: false,
  shuffledFrames: false,
};

/** Where time begins, in nanoseconds; each frame is a microsecond after the one before. */
export const START_NS = 0x1780_0000_0000_0000n;
const STEP_NS = 1000n;

interface NodeTraffic extends Traffic {
  /** Hop rows one behind the other, as most decoders leave them; else with gaps. */
  readonly packed: boolean;
}

/** Moves the hop rows of reports together. */
function pack(batch: TelemetryBatch, reports: number): void {
  const { code, hopCount, hopStart, hopStride, hopWords } = batch;
  let to = 0;
  for (let row = 0; row < reports; row++) {
    if (code[row] !== 0 || hopCount[row] === 0) continue;
    const from = hopStart[row]!;
    for (let column = 0; column * hopStride < hopWords.length; column++) {
      const at = column * hopStride;
      hopWords.copyWithin(at + to, at + from, at + from + hopCount[row]!);
    }
    hopStart[row] = to;
    to += hopCount[row]!;
  }
}

/**
 * Fills a new batch, and leaves some rows of times before those of its frames.
 * @param at how many frames came before
 */
export function randomReports(
  random: Random,
  reports: number,
  traffic: Partial<NodeTraffic> = {},
  at = 0,
): TelemetryBatch {
  const batch = new TelemetryBatch({ frames: reports, hops: Math.max(256, reports * 12) });
  const rows = fillRandom(batch, reports, { ...TRAFFIC, ...traffic }, random);
  if (traffic.packed === true) pack(batch, rows);
  batch.state[0] = rows;
  batch.state[1] = rows;
  batch.state[2] = batch.capacity.hops;
  // Any column may hold something.
  batch.state[STATE.WRITTEN] = -1;
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
  return withTimes(batch, { timestampsHigh, timestampsLow, first });
}

export { Random };
