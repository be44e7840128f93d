import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { Io } from '../../src/io.js';
import type { DeviceFlags } from '../../src/network/device-options.js';
import { type KnownNetwork, readNetwork } from '../../src/network/known-network.js';
import { run, temporaryFolder } from '../run.js';

const files = temporaryFolder();
const io = { env: {}, signal: new AbortController().signal } as unknown as Io;

const DEVICE = `version: 1
device:
  units: { hopLatency: us, timestamps: us, queueOccupancy: cells, egressUtilization: 0.01% }
  profile: int-platforms
  intPorts: [5000]
  intDscp: 0x17
  reportPorts: [32766]
  switches:
    3-5: { units: { hopLatency: ns } }
  sources: [10.9.0.0/16]
topology: topology.yaml
`;
const TOPOLOGY = 'switches: { 3: { name: leaf-3 } }\n';

const network = async (text: string, flags: Omit<DeviceFlags, 'device'> = {}): Promise<KnownNetwork> => {
  await files.write('topology.yaml', TOPOLOGY);
  return readNetwork({ ...flags, device: await files.write('device.yaml', text) }, io);
};

describe('a device file', () => {
  test('says units, dialect, senders, and where the topology is', async () => {
    const { device, topology } = await network(DEVICE.replace('int-platforms', 'spec'));
    expect(topology.switchText(3)).toBe('leaf-3');
    expect(device.text('hopLatency', 1250)).toBe('1.25 ms');
    expect(device.text('hopLatency', 1250, 4)).toBe('1.25 µs');
    expect(device.text('queueOccupancy', 12)).toBe('12 cells');
    expect(device.decode).toEqual({
      profile: 'spec',
      intPorts: [5000],
      intDscp: { value: 0x17, mask: 0x3f },
      reportPorts: [32766],
    });
    expect(device.sources).toHaveLength(1);
  });

  test('gives way to options, unit by unit', async () => {
    const { device } = await network(DEVICE.replace('int-platforms', 'spec'), {
      unit: { hopLatency: 'ms' },
      intPort: [7],
      intDscp: { value: 0x20, mask: 0x20 },
      probeMarker: 0xabcn,
    });
    expect(device.text('hopLatency', 2)).toBe('2 ms');
    expect(device.text('hopLatency', 2, 3)).toBe('2 ns');
    expect(device.text('egressUtilization', 250)).toBe('2.5 %');
    expect(device.decode).toMatchObject({ intPorts: [7], intDscp: { value: 0x20, mask: 0x20 }, probeMarker: 0xabcn });
    expect(device.decode).toMatchObject({ reportPorts: [32766] });
  });

  test('has problems with line and column, and exit code 2', async () => {
    for (const [text, line] of [
      [DEVICE, /device\.yaml:4:12: "int-platforms" is none of spec, /],
      ['version: 2\n', /device\.yaml:1:10: give 1/],
      [
        'version: 1\nunits: { hopLatency: us }\n',
        /device\.yaml:2:1: no such key, 'units': there are version, device, /,
      ],
      ['version: 1\ndevice: { units: { hopLatency: B } }\n', /device\.yaml:2:32: "B" is a number of bytes/],
      ['version: 1\ndevice: { intPorts: [70000] }\n', /device\.yaml:2:22: /],
    ] as const) {
      await expect(network(text)).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(line) });
    }
    await expect(readNetwork({ device: files.path('none.yaml') }, io)).rejects.toMatchObject({ exitCode: 3 });
  });

  test('has a schema that is one, and is published beside that of int.yaml', async () => {
    const schema = async (name: string): Promise<object> =>
      JSON.parse(await readFile(fileURLToPath(new URL(`../../schema/${name}`, import.meta.url)), 'utf8'));
    const ajv = new Ajv({ allowUnionTypes: true }).addSchema(await schema('int.schema.json'), 'int.schema.json');
    const validate = ajv.compile(await schema('device.schema.json'));
    expect(validate({ version: 1, device: { units: { hopLatency: 'us' } } })).toBe(true);
    expect(validate({ version: 1, device: { unit: {} } })).toBe(false);
    const manifest = JSON.parse(await readFile(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'));
    expect(manifest.exports['./device.schema.json']).toBe('./schema/device.schema.json');
  });
});

describe('--device and --unit', () => {
  test.each([
    ['decode', 'x.pcap'],
    ['detect', 'x.pcap', '--rules', 'r.yaml'],
    ['flows', 'x.pcap'],
    ['collect', '--demo'],
    ['bridge', 'a', 'b'],
    ['dart', 'write', 'x.pcap', '--store', 's'],
    ['process', '--kafka', 'a:1'],
  ])('int %s reads them', async (...args) => {
    const path = await files.write('bad.yaml', 'version: 1\ndevice: { units: { hopLatency: B } }\n');
    const { code, stderr } = await run([...args, '--device', path]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/bad\.yaml:2:32: "B" is a number of bytes/);
    const unit = await run([...args, '--unit', 'hopLatency=B']);
    expect(unit.code).toBe(2);
    expect(unit.stderr).toContain('"B" is a number of bytes');
  });

  test('are refused with what to write', async () => {
    for (const [text, message] of [
      ['us', 'Give METRIC=UNIT, as hopLatency=us or '],
      ['speed=us', '"speed" has no unit: there are hopLatency, '],
      ['hopLatency=parsec', '"parsec" is no unit'],
      ['egressUtilization=full(0)', '0 cannot stand for 100 %'],
    ]) {
      const { code, stderr } = await run(['decode', 'x.pcap', '--unit', text!]);
      expect(code).toBe(2);
      expect(stderr).toContain(message);
    }
  });
});
