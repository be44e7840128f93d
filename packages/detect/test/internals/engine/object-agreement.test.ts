import { frame, malformed } from '@int/arbitraries';
import { BatchDecoder, type DecodeOptions, decodeFrame, TelemetryBatch } from '@int/codec';
import { Detector, type Event, EventBatch, type RuleSet } from '@int/detect';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../../../.ci/test/length.js';
import { Random } from '../../reference/random.js';
import { SEED } from '../../seed.js';
import { randomRules } from '../reference/reports.js';

/** Frames and events that fit at a time: made once, as making them takes longer than most frames. */
const BATCH = new TelemetryBatch({ frames: 16, reports: 2048, hops: 8192 });
const EVENTS = new EventBatch(256);

const SIZES = { flowCells: 64, switchCells: 64, stateBytes: 1 << 20 } as const;

function packed(frames: readonly Uint8Array[]): { bytes: Uint8Array; offsets: Uint32Array; lengths: Uint32Array } {
  const bytes = new Uint8Array(frames.reduce((sum, { length }) => sum + length, 0));
  const offsets = new Uint32Array(frames.length);
  const lengths = new Uint32Array(frames.length);
  let at = 0;
  frames.forEach((one, row) => {
    bytes.set(one, at);
    offsets[row] = at;
    lengths[row] = one.length;
    at += one.length;
  });
  return { bytes, offsets, lengths };
}

/** Events of the hot path. */
function byColumns(
  frames: readonly Uint8Array[],
  options: DecodeOptions,
  rules: RuleSet,
): { events: Event[]; detector: Detector } {
  const detector = new Detector(rules, SIZES);
  const all: Event[] = [];
  const zeros = new Uint32Array(frames.length);
  const input = { ...packed(frames), timestampsHigh: zeros, timestampsLow: zeros };
  for (let next = 0; next < frames.length; ) {
    BATCH.clear();
    next = new BatchDecoder(options).decode(BATCH, input, next);
    for (let row = 0; row < BATCH.reports; ) {
      EVENTS.clear();
      row = detector.detect(BATCH, EVENTS, row);
      for (let k = 0; k < EVENTS.count; k++) all.push(EVENTS.event(k));
    }
  }
  return { events: all, detector };
}

/** Events of the comfort path. */
function byObjects(
  frames: readonly Uint8Array[],
  options: DecodeOptions,
  rules: RuleSet,
): { events: Event[]; detector: Detector } {
  const detector = new Detector(rules, SIZES);
  const events = frames.flatMap((bytes) =>
    decodeFrame(bytes, options)
      // A packet that is neither a report nor carries INT has no row.
      .filter(({ report, int }) => report !== null || int !== null)
      .flatMap((record) => detector.observe(record)),
  );
  return { events, detector };
}

function agree(frames: readonly Uint8Array[], options: DecodeOptions, seed: number): number {
  const rules = randomRules(new Random(seed), { rules: 4 });
  const columns = byColumns(frames, options, rules);
  const objects = byObjects(frames, options, rules);
  expect(objects.events).toEqual(columns.events);
  // Of a broken frame a row may tell that there was INT where an object cannot say which.
  const { notOk: _, ...left } = objects.detector.totals();
  expect(columns.detector.totals()).toMatchObject(left);
  return columns.events.length;
}

describe('the object API', () => {
  it('raises, record by record, the events that the batch raises', () => {
    let seen = 0;
    fc.assert(
      fc.property(frame(), fc.nat(), (generated, seed) => {
        // The same frame twice, so that state matters.
        seen += agree([generated.bytes, generated.bytes], generated.options, seed);
      }),
      { seed: SEED, numRuns: runs(1000) },
    );
    expect(seen).toBeGreaterThan(600 * LENGTH);
  });

  it('does so for frames of all kinds mixed, in one state', () => {
    fc.assert(
      fc.property(
        fc.array(frame({ options: { reportPorts: [32766] } }), { minLength: 1, maxLength: 12 }),
        fc.nat(),
        (frames, seed) => {
          agree(
            frames.map(({ bytes }) => bytes),
            { reportPorts: [32766] },
            seed,
          );
        },
      ),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  it('takes whatever comes out of broken frames', () => {
    fc.assert(
      fc.property(fc.array(malformed(frame()), { minLength: 1, maxLength: 10 }), fc.nat(), (frames, seed) => {
        agree(frames, { reportPorts: [32766] }, seed);
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });
});
