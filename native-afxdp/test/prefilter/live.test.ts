import { Detector } from '@int/detect';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODES, pairFor } from '../pair.js';
import { start } from '../program.js';
import { SEED } from '../seed.js';
import { reports, rules } from './arbitraries.js';
import { Finder } from './behind.js';
import type { Live } from './live.program.js';
import { frameOf } from './reports.js';

const PROGRAM = new URL('./live.program.ts', import.meta.url);

describe('a filter on an interface', () => {
  it.each(MODES)(
    'lets the events of all reports through to its socket while rules change, in %s mode',
    async (mode) => {
      const stretch = fc.record({ rules, reports: reports(100, 150) });
      const stretches = fc.sample(fc.array(stretch, { minLength: 12, maxLength: 12 }), { seed: SEED, numRuns: 1 })[0]!;
      const sent = stretches.map(({ rules: inForce, reports: list }) => ({
        rules: inForce,
        frames: list.map(frameOf),
      }));
      const pair = await pairFor({ together: true });
      const program = await start<Live>(PROGRAM, { at: pair.right });
      const result = await program.call('run', pair.left.interface, pair.right.interface, mode, sent);
      await program.stop();

      const all = new Finder(new Detector(stretches[0]!.rules));
      const expected = sent.flatMap(({ rules: inForce, frames }) => {
        all.detector.setRules(inForce);
        return all.find(
          frames.map((bytes, number) => ({ number, bytes, meta: new Uint8Array(0) })),
          null,
        );
      });
      expect(result.events).toEqual(expected.map(({ report: _, ...event }) => event));
      expect(result.mode).toBe(mode);
      const total = sent.reduce((sum, { frames }) => sum + frames.length, 0);
      const { counts } = result;
      expect(counts).toMatchObject({ reports: total, passed: 0, undecided: 0, noSocket: 0, withoutVerdict: 0 });
      expect(counts.filtered).toBeGreaterThan(total / 10);
      expect(counts.events + counts.handedOn).toBe(result.received);
      expect(result.verdicts).toBe(result.received);
    },
  );
});
