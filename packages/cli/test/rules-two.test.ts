import { encodeFrame, telemetry } from '@int/codec';
import { beforeAll, describe, expect, test } from 'vitest';
import { pcap } from './captures.js';
import { ndjson, run, temporaryFolder } from './run.js';

const files = temporaryFolder();

/** A packet of tcp/443 that has seen these queues: switch and occupancy. */
const packet = (hops: readonly (readonly [nodeId: number, queueOccupancy: number])[], port = 443): Uint8Array =>
  encodeFrame(
    telemetry({
      flow: { source: '10.1.2.3', destination: '192.0.2.1', protocol: 6, sourcePort: 40_000, destinationPort: port },
      hops: hops.map(([nodeId, queueOccupancy]) => ({ nodeId, queueId: 0, queueOccupancy })),
      report: null,
    }),
  );

const RULES = `version: 2
decide: all
default: drop
rules:
  - name: queue-of-3
    match: { switch: leaf-3, protocol: tcp, destinationPort: 443, source: clients }
    detect: { threshold: { metric: queueOccupancy, threshold: 40 } }
    clear: 20
    severity: critical
  - { name: path, match: any, detect: { pathChange: {} } }
`;

const TOPOLOGY = `switches: { 3: { name: leaf-3 }, 4: { name: leaf-4 } }
hosts: { clients: { addresses: [10.0.0.0/8] } }
`;

describe('rules of version 2', () => {
  let capture = '';
  let rules = '';
  let topology = '';

  beforeAll(async () => {
    const seen = [
      packet([
        [4, 500],
        [3, 41],
      ]),
      packet([[4, 500]]),
      packet([[3, 99]], 80),
      packet([
        [4, 500],
        [3, 21],
      ]),
      packet([
        [4, 500],
        [3, 20],
      ]),
      packet([[3, 70]]),
    ];
    capture = await files.write('queues.pcap', pcap(seen));
    rules = await files.write('two.yaml', RULES);
    topology = await files.write('topology.yaml', TOPOLOGY);
  });

  test('int detect --json tells beginnings and ends, of the switch that was named alone', async () => {
    const { stdout, stderr, code } = await run(['detect', capture, '--rules', rules, '--topology', topology, '--json']);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const lines = ndjson(stdout);
    const tracked = lines.filter(({ rule }) => rule === 'queue-of-3');
    const first = {
      type: 'event',
      severity: 'critical',
      key: 'switch 3',
      nodeId: 3,
      nodeName: 'leaf-3',
      metric: 'queueOccupancy',
    };
    expect(tracked).toMatchObject([
      { ...first, id: '1', state: 'open', isFirst: true, value: 41, hop: 1, findings: 1 },
      { ...first, id: '1', state: 'close', value: 41, findings: 1 },
      { ...first, id: '2', state: 'open', value: 70, hop: 0 },
    ]);
    expect(tracked[0]?.beginNs).toBe(tracked[1]?.beginNs);
    // Another rule looks at the same reports.
    expect(lines.filter(({ rule }) => rule === 'path').map(({ frame }) => frame)).toEqual([2, 4, 6]);
    expect(lines.at(-1)).toMatchObject({ type: 'summary', open: 1, untracked: 0 });
  });

  test('int detect says it in words', async () => {
    const { stdout } = await run(['detect', capture, '--rules', rules, '--topology', topology]);
    expect(stdout).toMatch(
      /begins {2}critical {2}queue-of-3 {2}switch leaf-3 {2}threshold queueOccupancy at switch leaf-3, hop 1: 41 \(threshold 40\)/,
    );
    expect(stdout).toMatch(/ends {2}critical {2}queue-of-3 {2}switch leaf-3 {2}after 0\.\d{3} s, 1 finding\n/);
  });

  test('int collect --json tells the same', async () => {
    const { stdout, code } = await run([
      'collect',
      '--pcap',
      capture,
      '--rules',
      rules,
      '--topology',
      topology,
      '--json',
    ]);
    expect(code).toBe(0);
    const tracked = ndjson(stdout).filter(({ rule }) => rule === 'queue-of-3');
    expect(tracked.map(({ id, state, key }) => `${String(id)} ${String(state)} ${String(key)}`)).toEqual([
      '1 open switch 3',
      '1 close switch 3',
      '2 open switch 3',
    ]);
  });

  test('a rule that is never reached is a warning on standard error, with the lines of both', async () => {
    const hidden = await files.write(
      'hidden.yaml',
      'version: 1\nrules:\n  - { name: all, priority: 2, match: any, detect: { noop: {} } }\n  - { name: never, priority: 1, match: any, detect: { noop: {} } }\n',
    );
    const { stderr, code } = await run(['detect', capture, '--rules', hidden]);
    expect(code).toBe(0);
    expect(stderr).toBe(
      `${hidden}:4:5: warning: "never" is never reached: "all" has a higher priority and matches all that it matches; ` +
        'give it a higher priority, or remove it (the other is in line 3)\n',
    );
    const config = await files.write(
      'int.yaml',
      `version: 1\nsources: [{ pcap: { file: ${capture} } }]\ndetect: { rules: hidden.yaml }\n`,
    );
    const checked = await run(['collect', '--config', config, '--check']);
    expect(checked.stderr).toContain(':4:5: warning: "never" is never reached');
  });

  test('names need a topology', async () => {
    const { stderr, code } = await run(['detect', capture, '--rules', rules]);
    expect(code).toBe(1);
    expect(stderr).toContain('two.yaml:6:22: "leaf-3" is no switch');
    expect(stderr).toContain('"clients" is no address');
  });
});
