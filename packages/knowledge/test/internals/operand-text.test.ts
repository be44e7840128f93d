import { DeviceProfile } from '@int/network';
import { describe, expect, it } from 'vitest';
import { operandTexts } from '../../src/incident/operand-text.js';

const congestion = (metric: string, entity: string) => ({
  ...{ detector: 'cusum-of-baseline', entity },
  operands: { metric, value: 1_500_000, usual: 12_000.5, z: 7.25, h: 12 },
});

describe('operands for people', () => {
  it('have the unit of the switch where one is known', () => {
    const device = new DeviceProfile({ units: { hopLatency: 'ns' }, switches: { 7: { units: { hopLatency: 'us' } } } });
    expect(operandTexts(congestion('hopLatency', 'switch:5'), device)).toEqual({
      ...{ metric: 'hopLatency', value: '1.5 ms', usual: '12 µs', z: '7.25', h: '12' },
    });
    expect(operandTexts(congestion('hopLatency', 'switch:7'), device)).toMatchObject({ value: '1.5 s' });
    expect(operandTexts(congestion('queueOccupancy', 'queue:5/1'), device)).toMatchObject({ value: '1,500,000' });
    expect(operandTexts(congestion('hopLatency', 'switch:5'))).toMatchObject({ value: '1,500,000', usual: '12000.5' });
  });

  it('are bytes where a detector counts bytes, and the same word is a number elsewhere', () => {
    const operands = { destination: '198.51.100.1', bytes: 1_234_567_890, usual: 80_000, hours: 30 };
    const host = { entity: 'host:10.0.0.1', operands };
    expect(operandTexts({ ...host, detector: 'bytes-to-new-destination' })).toEqual({
      ...{ destination: '198.51.100.1', bytes: '1.23 GB', usual: '80 kB', hours: '30' },
    });
    expect(operandTexts({ ...host, detector: 'rate-and-sources-and-damage' })).toMatchObject({ usual: '80,000' });
  });
});
