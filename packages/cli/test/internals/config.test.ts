import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesOf, millisecondsOf, nanosecondsOf } from '../../src/config/quantities.js';
import { readConfig } from '../../src/config/read-config.js';
import { CliError, type Io } from '../../src/io.js';
import { ndjson, run, temporaryFolder } from '../run.js';
import { SEED } from '../seed.js';

const files = temporaryFolder();

/** A configuration with everything in it. */
const WHOLE = `version: 1
sources:
  - udp: { listen: "0.0.0.0:32766", receiveBuffer: 32MiB, slabs: 8 }
  - udp: { listen: "[::1]:32766", from: [10.9.0.0/16, "2001:db8::/32"] }
  - afxdp: { interface: eth1, queues: 0-3, mode: auto, onDown: wait, from: [10.9.0.1] }
  - pcap: { file: old.pcap.gz, speed: 2, from: [10.0.0.0/8] }
  - kafka: { brokers: ["10.0.0.1:9092"], topic: int.reports, group: second, from: earliest }
decode:
  { intPorts: [5000], intDscp: "0x17/0x3f", greProtocol: 35001, probeMarker: "0123456789abcdef", reportPorts: [32766],
    probePorts: [5017, 5018], profile: spec }
device:
  units:
    { hopLatency: clock(200MHz), queueOccupancy: { cell: 80B }, bufferOccupancy: B, egressUtilization: { full: 10000 },
      timestamps: ns }
  switches: { 3: { units: { hopLatency: us } }, "7-9, 12": { units: { egressUtilization: bps } } }
  sources: [10.9.0.0/16, "2001:db8::/32"]
topology: topology.yaml
detect: { rules: rules.yaml, state: exact, flowCells: 1000, switchCells: 10, idle: 30s }
flows:
  rows: 65536
  buckets: 12
  hops: 5
  metrics: [hopLatency, queueOccupancy]
  idle: 1.5min
  thresholds: { metrics: { hopLatency: { level: 10000, change: 500 } }, endToEnd: { level: 50000 }, pathChange: true }
dart: { store: paths, memory: 64MiB, copies: 2, values: [hopLatency] }
drain: 20s
sinks:
  - kafka:
      { brokers: ["10.0.0.1:9092", "10.0.0.2:9092"], prefix: net., format: protobuf, compression: snappy, whenFull: drop,
        records: [reports, events], memory: 64MiB, linger: 20ms, partitions: 12, replicas: 3,
        durability: spool,
        spool: { directory: spool, limit: 10GiB, sync: chunk, commit: 10ms }, tls: {}, sasl: { username: int, password: "\${KAFKA_PASSWORD}" } }
  - kafka: { name: second, brokers: ["broker.example:9092"], records: [events] }
  - parquet: { directory: history, rotate: { rows: 1000000, bytes: 64MiB, age: 1min }, retention: { age: 30d, bytes: 1TB } }
  - prometheus:
      { listen: "127.0.0.1:9464", labels: { site: a }, allowHosts: [metrics.example, "10.0.0.9", "[::2]"], switches: 64,
        queues: 512, interfaces: 512, reporters: 256 }
  - opensearch: { nodes: ["https://search.example:9200"], username: int, password: secret, rotation: month, batch: 1MB }
  - redis: { url: "redis://127.0.0.1:6379", keep: 7d, retry: { first: 100ms, longest: 5s } }
`;

const io = (env: Record<string, string> = { KAFKA_PASSWORD: 'x' }): Io =>
  ({ env, signal: new AbortController().signal }) as unknown as Io;

/** What `int collect --config FILE --check` says of a configuration. */
async function check(
  text: string,
  env: Record<string, string> = {},
): Promise<{ code: number | null; lines: string[] }> {
  const path = await files.write('int.yaml', text);
  const { code, stdout, stderr } = await run(['collect', '--config', path, '--check'], { env });
  expect(stdout).toBe('');
  return {
    code,
    lines: stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(path, 'int.yaml')),
  };
}

describe('int.yaml', () => {
  test('can have everything that its schema knows', async () => {
    const path = await files.write('whole.yaml', WHOLE);
    const { config, device, path: resolved } = await readConfig(path, io());
    expect(config.sinks![0]!.kafka!.sasl!.password).toBe('x');
    expect(config.sources.map((source) => Object.keys(source)[0])).toEqual(['udp', 'udp', 'afxdp', 'pcap', 'kafka']);
    expect(resolved('history')).toBe(files.path('history'));
    expect(device.unit('hopLatency', 2)).toMatchObject({ base: 'seconds', factor: 5e-9 });
    expect(device.decode).toMatchObject({ intPorts: [5000], intDscp: { value: 0x17, mask: 0x3f } });
  });

  test('is as the README shows it', async () => {
    const readme = await readFile(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
    const [, example = ''] = /### int\.yaml.*?```yaml\n(.*?)```/s.exec(readme) ?? [];
    const { config } = await readConfig(await files.write('readme.yaml', example), io());
    expect(config.sinks).toHaveLength(4);
  });

  test('has a schema that is one, is published, and describes every key', async () => {
    const file = fileURLToPath(new URL('../../schema/int.schema.json', import.meta.url));
    const schema = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
    expect(new Ajv({ allowUnionTypes: true }).validateSchema(schema)).toBe(true);
    const manifest = fileURLToPath(new URL('../../package.json', import.meta.url));
    const { exports, files: packed } = JSON.parse(await readFile(manifest, 'utf8')) as {
      exports: Record<string, unknown>;
      files: string[];
    };
    expect(exports['./int.schema.json']).toBe('./schema/int.schema.json');
    expect(packed).toContain('schema');
    const undescribed: string[] = [];
    const visit = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [key, value] of Object.entries(node)) {
        if (key === 'properties') {
          for (const [name, property] of Object.entries(value as Record<string, Record<string, unknown>>)) {
            const { description, title, $ref } = property;
            if (description === undefined && title === undefined && $ref === undefined)
              undescribed.push(`${path}/${name}`);
          }
        }
        visit(value, `${path}/${key}`);
      }
    };
    visit(schema, '');
    expect(undescribed).toEqual([]);
  });

  test('tells of everything that is wrong, with line and column, in their order', async () => {
    const { code, lines } = await check(`version: 2
sources:
  - udp: { listen: "0.0.0.0" }
  - pcap: {}
    udp: { listen: "0.0.0.0:1", receiveBuffer: 32 MB }
  - tcp: {}
decode: { intDscp: 23 }
detect: {}
flows: { idle: 5 }
drain: soon
sinks:
  - kafka: { brokers: [], format: xml, pasword: x }
`);
    expect(code).toBe(2);
    expect(lines).toEqual([
      'int.yaml:1:10: give 1',
      'int.yaml:3:20: give HOST:PORT, an IPv6 host in brackets',
      'int.yaml:4:5: give one of udp, afxdp, pcap, kafka, not more',
      "int.yaml:4:11: 'file' is missing",
      'int.yaml:5:48: give bytes, such as 65536, 64KiB, 1.5GiB or 2GB',
      "int.yaml:6:5: no such key, 'tcp': there are udp, afxdp, pcap, kafka",
      'int.yaml:7:20: give text',
      "int.yaml:8:9: 'rules' is missing",
      'int.yaml:9:16: give a time with a unit, such as 500ms, 10s, 5min or 7d',
      'int.yaml:10:8: give a time with a unit, such as 500ms, 10s, 5min or 7d',
      'int.yaml:12:23: give at least one',
      'int.yaml:12:35: give one of protobuf, json',
      expect.stringMatching(/^int\.yaml:12:40: no such key, 'pasword': there are name, records, brokers, /),
    ]);
  });

  test('tells what fits its schema and still makes no sense', async () => {
    const { code, lines } = await check(`version: 1
sources:
  - afxdp: { interface: a, prefilter: true }
  - afxdp: { interface: b }
decode: { profile: nope }
detect: { rules: x, idle: 5s }
flows: { metrics: [hopLatency, speed] }
dart: { store: x, values: paths }
sinks:
  - opensearch: { nodes: ["http://a"] }
  - opensearch: { nodes: ["http://b"] }
  - prometheus: { listen: "a:1" }
  - prometheus: { listen: "a:2" }
`);
    expect(code).toBe(2);
    expect(lines).toEqual([
      'int.yaml:3:39: a pre-filter reads reports as the specifications have them: leave out the profile',
      'int.yaml:3:39: a pre-filter goes with its source alone',
      'int.yaml:4:12: there is one AF_XDP source at most',
      expect.stringMatching(/^int\.yaml:5:20: "nope" is none of spec, /),
      'int.yaml:6:27: idle goes with state: exact; registers are never idle',
      expect.stringMatching(/^int\.yaml:7:32: 'speed' is none of hopLatency, /),
      'int.yaml:8:27: give path, or a list of metrics',
      "int.yaml:11:5: this sink is called 'opensearch', as that at sinks[0]: give it another name",
      'int.yaml:13:5: there is one prometheus sink at most',
    ]);
    const device = await check(`version: 1
sources: [{ udp: { listen: "0.0.0.0:1" } }]
decode: { intPorts: [5000] }
device:
  intPorts: [5001]
  profile: nope
  units: { hopLatency: cells, queueOccupancy: { cell: 80us } }
  switches: { 3-1: { units: { hopLatency: lightyears } } }
  sources: [10.9.0.0/33]
`);
    expect(device.lines).toEqual([
      'int.yaml:3:11: intPorts stands in device, too: leave out one',
      expect.stringMatching(/^int\.yaml:6:12: "nope" is none of spec, /),
      'int.yaml:7:24: "cells" is a number of cells, but hopLatency is a time (s, ms, us, ns, ps)',
      'int.yaml:7:47: "80us" is a time: a cell has bytes, as 80B',
      'int.yaml:8:20: "3-1" is no switch id or range: write 3, 3-5 or 3, 7-9',
      expect.stringMatching(/^int\.yaml:8:43: "lightyears" is no unit/),
      'int.yaml:9:13: "10.9.0.0/33" is no address or prefix: write 10.9.0.0/16',
    ]);
    const shape = await check(`version: 1
sources: [{ udp: { listen: "0.0.0.0:1" } }]
device: { units: { hopLatency: 7, speed: us }, switches: { 3: { unit: ns } } }
`);
    expect(shape.lines).toEqual([
      'int.yaml:3:32: give a unit, such as ns, clock(200MHz), cells, 0.01%, { cell: 80B } or { full: 10000 }',
      expect.stringMatching(/^int\.yaml:3:35: no such key, 'speed': there are hopLatency, /),
      "int.yaml:3:63: 'units' is missing",
      expect.stringMatching(/^int\.yaml:3:65: no such key, 'unit'/),
    ]);
    const redis = await check(`version: 1
sources: [{ udp: { listen: "a:1" } }]
sinks: [{ redis: {} }]
`);
    expect(redis.lines).toEqual(['int.yaml:3:18: Redis takes what a flow cache has: it goes with flows']);
    const durable = await check(`version: 1
sources: [{ udp: { listen: "0.0.0.0:1" } }]
sinks: [{ kafka: { brokers: ["a:1"], durability: spool } }]
`);
    expect(durable.lines).toEqual(['int.yaml:3:50: durability: spool needs a spool']);
  });

  test('tells what is no YAML, and which variable is not set', async () => {
    expect(await check('version: [1\n')).toMatchObject({
      code: 2,
      lines: [expect.stringMatching(/^int\.yaml:2:1: /)],
    });
    expect(await check('a: 1\na: 2\n')).toMatchObject({ code: 2, lines: [expect.stringMatching(/^int\.yaml:2:1: /)] });
    const unset = `version: 1\nsources: [{ pcap: { file: "\${CAPTURE}" } }]\n`;
    expect(await check(unset)).toEqual({
      code: 2,
      lines: ['int.yaml:2:27: the environment variable CAPTURE is not set'],
    });
    expect(await check('')).toMatchObject({ code: 2, lines: ['int.yaml:1:1: give a mapping'] });
  });

  test('is refused with a message, never with a stack, whatever is in the file', async () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      '-',
      '\n',
      '  ',
      '*',
      '&a',
      `\${X}`,
      '1e400',
      '!!',
      '\t',
      '|',
      '"',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: WHOLE.length }),
        fc.nat(60),
        fc.array(piece, { maxLength: 4 }),
        async (at, cut, pieces) => {
          const path = await files.write('mutated.yaml', WHOLE.slice(0, at) + pieces.join('') + WHOLE.slice(at + cut));
          try {
            const { config } = await readConfig(path, io());
            expect(config.version).toBe(1);
          } catch (error) {
            expect(error).toBeInstanceOf(CliError);
            expect((error as CliError).exitCode).toBe(2);
            expect((error as CliError).message).toMatch(/mutated\.yaml:\d+:\d+: /);
          }
        },
      ),
      { seed: SEED, numRuns: 80 },
    );
  });

  test('has sizes and times with units', () => {
    expect(['64KiB', '1.5GB', '3B', 7].map(bytesOf)).toEqual([65_536, 1.5e9, 3, 7]);
    expect(['1us', '500ms', '1.5s', '2min', '1h', '7d', 0].map(millisecondsOf)).toEqual([
      1, 500, 1500, 120_000, 3_600_000, 604_800_000, 0,
    ]);
    expect(['10ns', '5s'].map(nanosecondsOf)).toEqual([10n, 5_000_000_000n]);
  });
});

describe('int collect --config --check', () => {
  test('says what would run, in words and as JSON, and opens nothing', async () => {
    const rules = 'version: 1\nrules: [{ name: all, priority: 1, match: any, detect: { noop: {} } }]\n';
    await files.write('check-rules.yaml', rules);
    const path = await files.write(
      'check.yaml',
      `version: 1
sources: [{ udp: { listen: "203.0.113.7:1" } }]
detect: { rules: check-rules.yaml }
decode: { reportPorts: [32766] }
device:
  { units: { hopLatency: us }, switches: { 3-5: { units: { hopLatency: ns } } }, intDscp: 0x20/0x20, sources: [10.9.0.0/16] }
flows: { rows: 16 }
drain: 3s
sinks: [{ redis: { url: "redis://203.0.113.7:1" } }]
`,
    );
    const words = await run(['collect', '--config', path, '--check']);
    expect(words).toMatchObject({ code: 0, stderr: '' });
    expect(words.stdout.trimEnd().split('\n')).toEqual([
      'receive: UDP on 203.0.113.7:1',
      'units: hopLatency in us, queueOccupancy without unit, bufferOccupancy without unit, egressUtilization without unit, timestamps without unit',
      'units of switch 3-5: hopLatency in ns',
      'decode: profile spec; INT by UDP port 5000, 4096 and DSCP 0x20/0x20; reports at UDP port 32766',
      'senders: 10.9.0.0/16',
      'detect: rules of check-rules.yaml, state register',
      'flows: a cache of 16 rows, idle after 30s',
      'sink redis: flows, events to Redis at redis://203.0.113.7:1',
      `${path}: good`,
    ]);
    const json = await run(['collect', '--config', path, '--check', '--json']);
    expect(ndjson(json.stdout)).toEqual([
      {
        type: 'config',
        file: path,
        sources: ['UDP on 203.0.113.7:1'],
        device: {
          units: {
            hopLatency: { text: 'us', base: 'seconds', factor: 1e-6 },
            queueOccupancy: null,
            bufferOccupancy: null,
            egressUtilization: null,
            timestamps: null,
            switches: [{ from: 3, to: 5, units: { hopLatency: { text: 'ns', base: 'seconds', factor: 1e-9 } } }],
          },
          profile: 'spec',
          intPorts: [5000, 4096],
          intDscp: '0x20/0x20',
          reportPorts: [32766],
          probePorts: [5017, 5018],
          greProtocol: 0x88b5,
          probeMarker: null,
          sources: ['10.9.0.0/16'],
        },
        topology: null,
        rules: 'check-rules.yaml',
        flows: true,
        workers: 0,
        dart: null,
        dashboard: null,
        sinks: [{ name: 'redis', what: 'flows, events to Redis at redis://203.0.113.7:1' }],
        drainMs: 3000,
      },
    ]);
  });

  test('looks at the rules as well', async () => {
    await files.write('broken-rules.yaml', 'version: 1\nrules: 7\n');
    const text = `version: 1\nsources: [{ udp: { listen: "a:1" } }]\ndetect: { rules: broken-rules.yaml }\n`;
    const { code, lines } = await check(text);
    expect(code).toBe(1);
    expect(lines[0]).toMatch(/broken-rules\.yaml:2:8: /);
  });

  test('stands alone: what the file says cannot be said again', async () => {
    const path = await files.write('alone.yaml', 'version: 1\nsources: [{ udp: { listen: "a:1" } }]\n');
    for (const args of [
      ['--listen', 'udp://1.2.3.4:5'],
      ['--demo'],
      ['--rules', 'x'],
      ['--int-port', '7'],
      ['--idle', '1s'],
    ]) {
      const { code, stderr } = await run(['collect', '--config', path, ...args]);
      expect(code).toBe(2);
      expect(stderr).toContain(`${args[0]} stands in the file that --config names`);
    }
    expect((await run(['collect', '--check', '--demo'])).stderr).toContain('--check goes with --config FILE');
    const missing = await run(['collect', '--config', files.path('none.yaml')]);
    expect(missing.code).toBe(3);
    expect(missing.stderr).toContain('none.yaml: no such file or folder');
  });
});
