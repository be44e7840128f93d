import { DeviceProfile } from '@int/network';
import { SwitchUnits } from '@int/network/internals';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEED } from './seed.js';

describe('units of switches', () => {
  it('are those of the profile, whatever its ranges are', () => {
    const id = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(0xfffffffe, 0xffffffff));
    const range = fc.tuple(id, id).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
    const units = fc.constantFrom('ns', 'us', '1000ns', 'clock(200MHz)');
    const ranges = fc.dictionary(range, units, { maxKeys: 5 });
    fc.assert(
      fc.property(ranges, fc.option(units, { nil: undefined }), id, (given, usual, node) => {
        const switches = Object.fromEntries(
          Object.entries(given).map(([key, hopLatency]) => [key, { units: { hopLatency } }]),
        );
        const profile = new DeviceProfile({ units: usual === undefined ? {} : { hopLatency: usual }, switches });
        const found = new SwitchUnits(profile, 'hopLatency');
        const unit = found.units[found.placeOf(node)]!;
        expect(unit?.factor).toBe(profile.unit('hopLatency', node)?.factor);
        expect(found.units[0]?.factor).toBe(profile.unit('hopLatency')?.factor);
        const factors = found.units.map((each) => each?.factor);
        expect(new Set(factors).size).toBe(factors.length);
      }),
      { seed: SEED },
    );
  });
});
