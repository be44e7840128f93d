import { readFileSync } from 'node:fs';
import { DeviceProfile, type DeviceSpec, Topology, type TopologySpec } from '@int/network';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const DATA = new URL('../../../examples/data/', import.meta.url);

test('the example data have a device profile and a topology that are read without a problem', () => {
  const { device, topology } = parse(readFileSync(new URL('device.yaml', DATA), 'utf8')) as {
    device: DeviceSpec;
    topology: string;
  };
  const profile = new DeviceProfile(device);
  expect(profile.text('hopLatency', 1250)).toBe('1.25 µs');
  expect(profile.text('queueOccupancy', 100)).toBe('8 kB');
  expect(profile.text('egressUtilization', 3000)).toBe('30 %');
  const network = new Topology(parse(readFileSync(new URL(topology, DATA), 'utf8')) as TopologySpec);
  expect(network.peer(1, 9)).toEqual({ kind: 'switch', switchId: 5, port: 1 });
  expect(network.hostOf(Uint8Array.of(10, 3, 0, 2))?.name).toBe('rack-3');
});
