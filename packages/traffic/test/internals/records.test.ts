import { type GeneratorOptions, TrafficGenerator } from '@int/traffic';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { settingsOf } from '../../src/options.js';
import { Simulation } from '../../src/simulation.js';
import { SEED } from '../seed.js';
import { RecordBuilder } from './record-model.js';

const options = fc
  .record({
    topology: fc.constantFrom('leaf-spine:2x1', 'leaf-spine:4x2', 'fat-tree:4'),
    form: fc.constantFrom('reports' as const, 'packets' as const),
    mode: fc.constantFrom('md' as const, 'mx' as const, 'xd' as const),
    report: fc.constantFrom('1.0' as const, '2.0' as const),
    ratePps: fc.constantFrom(50, 20_000, 3_000_000),
    seed: fc.integer(),
    bits: fc.integer({ min: 0, max: 0xffff }),
    tcpShare: fc.constantFrom(0, 0.5, 1),
    startNs: fc.bigInt({ min: 0n, max: (1n << 63n) - 1n }),
  })
  .filter(({ form, mode }) => form === 'reports' || mode !== 'xd');

it('gives the records that the model builds of the same simulation, for every mode, version and form', () => {
  let dropped = 0;
  fc.assert(
    fc.property(options, ({ bits, ...rest }) => {
      const traffic: GeneratorOptions = {
        ...rest,
        instructions: (bits & (rest.report === '1.0' ? 0xff00 : 0xff80)) | 0x4000,
        fabric: { hotspots: 1, episodes: { rate: 3, everyNs: 1, lengthNs: 1e15 } },
      };
      const isPacket = rest.form === 'packets';
      const simulation = new Simulation(settingsOf(traffic), isPacket);
      const model = new RecordBuilder(simulation);
      for (const { timeNs, records } of new TrafficGenerator(traffic).take(80)) {
        simulation.next();
        expect(records).toEqual([model.build(isPacket)]);
        expect(timeNs).toBe(model.wallClock(simulation.timeNs));
        if (simulation.dropped) dropped++;
      }
    }),
    { seed: SEED, numRuns: runs(150) },
  );
  expect(dropped).toBeGreaterThan(20);
});
