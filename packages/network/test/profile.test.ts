import { DeviceProfile, type DeviceSpec, NetworkError, valueText } from '@int/network';
import { describe, expect, test } from 'vitest';

/** The problems of a description, as `path: message`. */
function problemsOf(spec: DeviceSpec): string[] {
  try {
    new DeviceProfile(spec);
  } catch (error) {
    if (!NetworkError.is(error)) throw error;
    return error.problems.map(({ path, message }) => `${path.join('.')}: ${message}`);
  }
  return [];
}

describe('DeviceProfile', () => {
  test('knows the unit of each number, and where a switch has another', () => {
    const profile = new DeviceProfile({
      units: {
        hopLatency: 'us',
        queueOccupancy: { cell: '80B' },
        egressUtilization: '0.01%',
        timestamps: 'clock(200MHz)',
      },
      switches: { '3-5, 9': { units: { hopLatency: 'ns' } } },
    });
    expect(profile.unit('hopLatency')).toEqual({ text: 'us', base: 'seconds', factor: 1e-6 });
    expect(profile.unit('hopLatency', 2)?.factor).toBe(1e-6);
    for (const id of [3, 4, 5, 9]) expect(profile.unit('hopLatency', id)?.factor).toBe(1e-9);
    expect(profile.unit('queueOccupancy', 4)).toEqual({ text: '{ cell: 80B }', base: 'bytes', factor: 80 });
    expect(profile.unit('egressUtilization')).toEqual({ text: '0.01%', base: 'ratio', factor: 0.0001 });
    expect(profile.unit('timestamps')).toEqual({ text: 'clock(200MHz)', base: 'seconds', factor: 5e-9 });
    expect(profile.unit('bufferOccupancy')).toBeNull();
    expect([profile.isUniform('hopLatency'), profile.isUniform('queueOccupancy')]).toEqual([false, true]);
    expect(profile.isUniform('bufferOccupancy')).toBe(true);
    expect(DeviceProfile.NONE.unit('hopLatency', 1)).toBeNull();
  });

  test.each([
    ['ns', 'hopLatency', 'seconds', 1e-9],
    ['10ns', 'hopLatency', 'seconds', 1e-8],
    ['ms', 'hopLatency', 'seconds', 1e-3],
    ['clock(1.25 GHz)', 'hopLatency', 'seconds', 8e-10],
    ['cells', 'queueOccupancy', 'cells', 1],
    ['packets', 'queueOccupancy', 'packets', 1],
    ['B', 'bufferOccupancy', 'bytes', 1],
    ['%', 'egressUtilization', 'ratio', 0.01],
    ['bps', 'egressUtilization', 'bitsPerSecond', 1],
    ['Mbps', 'egressUtilization', 'bitsPerSecond', 1e6],
  ] as const)('reads %s of %s', (text, metric, base, factor) => {
    expect(new DeviceProfile({ units: { [metric]: text } }).unit(metric)).toEqual({ text, base, factor });
  });

  test('reads how packets are decoded, and who may send', () => {
    const profile = new DeviceProfile({
      profile: 'intmon',
      intPorts: [5000],
      intDscp: '0x20/0x20',
      reportPorts: [32766],
      greProtocol: 0x88b5,
      probeMarker: '0xff00',
      sources: ['10.9.0.0/16', '2001:db8::/32', '10.1.2.3'],
    });
    expect(profile.decode).toEqual({
      profile: 'intmon',
      intPorts: [5000],
      intDscp: { value: 0x20, mask: 0x20 },
      reportPorts: [32766],
      greProtocol: 0x88b5,
      probeMarker: 0xff00n,
    });
    expect(profile.sources?.map(({ length }) => length)).toEqual([16, 32, 32]);
    expect(new DeviceProfile({ intDscp: null }).decode).toEqual({ intDscp: null });
    expect(new DeviceProfile({ intDscp: 23 }).decode).toEqual({ intDscp: { value: 23, mask: 63 } });
    expect(new DeviceProfile({ sources: [] }).sources).toEqual([]);
    expect(DeviceProfile.NONE).toMatchObject({ decode: {}, sources: null });
  });

  test('names all that is wrong, each with its place', () => {
    const problems = problemsOf({
      units: { hopLatency: 'cells', queueOccupancy: 'furlongs', timestamps: 'B', nodeId: 'ns' } as DeviceSpec['units'],
      profile: 'pascal',
      intPorts: [65536],
      intDscp: '64',
      greProtocol: -1,
      probeMarker: 'xyz',
      switches: { three: { units: {} }, '5-3': { units: { hopLatency: 'clock(0Hz)' } } },
      sources: ['10.0.0.0/33', 'here'],
    } as DeviceSpec);
    expect(problems.map((text) => text.split(':')[0])).toEqual([
      'units.hopLatency',
      'units.queueOccupancy',
      'units.timestamps',
      'units.nodeId',
      'switches.three',
      'switches.5-3',
      'switches.5-3.units.hopLatency',
      'sources.0',
      'sources.1',
      'profile',
      'intPorts.0',
      'intDscp',
      'greProtocol',
      'probeMarker',
    ]);
  });
});

test('values are shown with their units, of three digits', () => {
  const profile = new DeviceProfile({
    units: { hopLatency: 'us', queueOccupancy: 'cells', bufferOccupancy: 'B', egressUtilization: '0.01%' },
    switches: { 7: { units: { egressUtilization: 'Mbps' } } },
  });
  for (const [value, text] of [
    [0, '0 s'],
    [1, '1 µs'],
    [1250, '1.25 ms'],
    [12_345, '12.3 ms'],
    [999_600, '1 s'],
    [2_500_000, '2.5 s'],
  ] as const) {
    expect(profile.text('hopLatency', value)).toBe(text);
  }
  expect(profile.text('queueOccupancy', 1)).toBe('1 cell');
  expect(profile.text('queueOccupancy', 1500)).toBe('1,500 cells');
  expect(profile.text('bufferOccupancy', 80_000)).toBe('80 kB');
  expect(profile.text('egressUtilization', 3000)).toBe('30 %');
  expect(profile.text('egressUtilization', 2500, 7)).toBe('2.5 Gbit/s');
  expect(valueText(12_345, null)).toBe('12,345');
});
