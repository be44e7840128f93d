import { encodeFrame, telemetry } from '@int/codec';
import { LinkType, PcapWriter } from '@int/pcap';
import { beforeAll, describe, expect, test } from 'vitest';
import { pcap, START_NS } from './captures.js';
import { ndjson, Running, run, temporaryFolder } from './run.js';

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

/** A packet that these switches were slow for, so many milliseconds after the first. */
interface Slow {
  readonly milli: number;
  readonly hops: readonly (readonly [nodeId: number, hopLatency: number])[];
}

function slowPcap(seen: readonly Slow[]): Buffer {
  const writer = new PcapWriter({ linkType: LinkType.ETHERNET });
  const flow = { source: '10.1.2.3', destination: '192.0.2.1', protocol: 6, sourcePort: 40_000, destinationPort: 443 };
  const records = seen.map(({ milli, hops }) =>
    writer.record({
      data: encodeFrame(
        telemetry({ flow, hops: hops.map(([nodeId, hopLatency]) => ({ nodeId, hopLatency })), report: null }),
      ),
      timeNs: START_NS + BigInt(milli) * 1_000_000n,
      linkType: LinkType.ETHERNET,
    }),
  );
  return Buffer.concat([writer.header(), ...records]);
}

const tenASecond = (seconds: number): number[] => Array.from({ length: 10 * seconds }, (_, k) => 100 * k);

describe('rules of version 2 that look at time', () => {
  const told = (stdout: string): unknown[] =>
    ndjson(stdout)
      .filter(({ type }) => type === 'event')
      .map(({ timeNs, rule, state, isFirst, severity, key, nodeName }) => [
        Number((BigInt(timeNs as string) - START_NS) / 1_000_000n),
        rule,
        state === 'open' && isFirst !== true ? 'on' : state,
        severity,
        key,
        nodeName,
      ]);
  const SWITCHES = 'switches: { 1: { name: leaf-1 }, 2: { name: leaf-2 } }\n';

  test("'twice the usual at any switch' begins and ends at that switch", async () => {
    const seen = tenASecond(60).map(
      (milli): Slow => ({
        milli,
        hops: [
          [1, 1000 + (milli % 7)],
          [2, milli >= 40_000 && milli < 43_000 ? 900 : 300 + (milli % 7)],
        ],
      }),
    );
    const capture = await files.write('slow.pcap', slowPcap(seen));
    const topology = await files.write('leaves.yaml', SWITCHES);
    const rules = await files.write(
      'usual.yaml',
      `version: 2
decide: all
default: drop
rules:
  - name: twice-the-usual
    match: any
    detect: { baseline: { metric: hopLatency, above: 2x, key: switch, learn: 20s } }
    severity: critical
`,
    );
    const args = ['detect', capture, '--rules', rules, '--topology', topology];
    const { stdout, stderr, code } = await run([...args, '--json']);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const [begin, end, ...more] = told(stdout);
    expect(more).toEqual([]);
    expect(begin).toEqual([41_000, 'twice-the-usual', 'open', 'critical', 'switch 2', 'leaf-2']);
    expect(end).toEqual([44_000, 'twice-the-usual', 'close', 'critical', 'switch 2', 'leaf-2']);
    expect(ndjson(stdout).at(-1)).toMatchObject({ type: 'summary', open: 0, untracked: 0 });
    const { stdout: words } = await run(args);
    expect(words).toMatch(
      /begins {2}critical {2}twice-the-usual {2}switch leaf-2 {2}baseline hopLatency at switch leaf-2/,
    );
    expect(words).toMatch(/ends {2}critical {2}twice-the-usual {2}switch leaf-2 {2}after 3\.000 s, 3 findings\n/);
  });

  test("'nothing from leaf-2 for 30 s' begins after the time and ends when it is back; no other switch is meant", async () => {
    const seen = tenASecond(100).map(
      (milli): Slow => ({
        milli,
        hops:
          milli <= 5000 || milli >= 90_000
            ? [
                [1, 10],
                [2, 10],
              ]
            : milli < 40_000
              ? [[1, 10]]
              : [[3, 10]],
      }),
    );
    const capture = await files.write('silent.pcap', slowPcap(seen));
    const topology = await files.write('leaves.yaml', SWITCHES);
    const rule = (more: string): string => `version: 2
decide: all
default: drop
rules:
  - { name: leaf-2-is-silent, match: { switch: leaf-2 }, detect: { absent: { key: switch, for: 30s } }${more} }
  - { name: all-slow, match: any, detect: { threshold: { metric: hopLatency, threshold: 1000000 } } }
`;
    const detect = async (more: string): Promise<unknown[]> => {
      const rules = await files.write('silent.yaml', rule(more));
      const { stdout, stderr, code } = await run([
        'detect',
        capture,
        '--rules',
        rules,
        '--topology',
        topology,
        '--json',
      ]);
      expect(stderr).toBe('');
      expect(code).toBe(0);
      return told(stdout);
    };
    expect(await detect('')).toEqual([
      [35_000, 'leaf-2-is-silent', 'open', 'warning', 'switch 2', 'leaf-2'],
      [90_000, 'leaf-2-is-silent', 'close', 'warning', 'switch 2', 'leaf-2'],
    ]);
    // Nothing is found between the two; time alone lets it begin later, and go on.
    const states = (await detect(', for: 10s, every: 20s, severity: critical')) as [number, string, string][];
    expect(states.map(([milli, , state]) => [milli, state])).toEqual([
      [45_000, 'open'],
      [65_000, 'on'],
      [85_000, 'on'],
      [90_000, 'close'],
    ]);
    expect(await detect(', for: 1min')).toEqual([]);
  });

  test('int collect --json tells it as well', async () => {
    const seen = tenASecond(50).map(
      (milli): Slow => ({
        milli,
        hops:
          milli <= 5000
            ? [
                [1, 10],
                [2, 10],
              ]
            : [[1, 10]],
      }),
    );
    const capture = await files.write('gone.pcap', slowPcap(seen));
    const rules = await files.write(
      'gone.yaml',
      'version: 2\nrules:\n  - { name: gone, priority: 1, match: any, detect: { absent: { for: 30s } } }\n',
    );
    const { stdout, code } = await run(['collect', '--pcap', capture, '--rules', rules, '--json']);
    expect(code).toBe(0);
    expect(told(stdout)).toEqual([[35_000, 'gone', 'open', 'warning', 'switch 2', undefined]]);
  });
});

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

describe('detection beside worker threads', () => {
  /** Two minutes of 40 flows over three switches; switch 3 is slow for 20 s, then says nothing. */
  function manyFlows(): Buffer {
    const writer = new PcapWriter({ linkType: LinkType.ETHERNET });
    const records = Array.from({ length: 1200 }, (_, k) => {
      const flow = {
        source: `10.1.2.${k % 40}`,
        destination: '192.0.2.1',
        protocol: 6,
        sourcePort: 40_000 + (k % 40),
        destinationPort: 443,
      };
      const isSlow = k >= 500 && k < 700;
      const hops = [1, 2, 3]
        .filter((nodeId) => nodeId !== 3 || k < 900)
        .map((nodeId) => ({ nodeId, queueId: k % 2, hopLatency: (nodeId === 3 && isSlow ? 9000 : 1000) + (k % 7) }));
      return writer.record({
        data: encodeFrame(telemetry({ flow, hops, report: null })),
        timeNs: START_NS + BigInt(k) * 100_000_000n,
        linkType: LinkType.ETHERNET,
      });
    });
    return Buffer.concat([writer.header(), ...records]);
  }

  const MANY = `version: 2
decide: all
default: drop
rules:
  - { name: usual, match: any, detect: { baseline: { metric: hopLatency, above: 2x, below: 0.5x, key: switch, learn: 15s } } }
  - { name: queues, match: any, detect: { baseline: { metric: hopLatency, above: 2x, key: queue, learn: 15s } }, severity: critical }
  - { name: rate, match: any, detect: { rate: { above: 9/s, of: reports } }, for: 5s }
  - { name: gone, match: any, detect: { absent: { key: switch, for: 4s } }, severity: warning }
  - { name: burst, match: any, detect: { burst: { metric: hopLatency, above: 5us, within: 60s, key: switch } } }
  - { name: slow, match: { switch: 3 }, detect: { threshold: { metric: hopLatency, threshold: 5us } }, clear: 4us }
  - { name: path, match: any, detect: { pathChange: {} } }
  - { name: flows, match: any, detect: { perFlow: { metric: hopLatency, threshold: 5us } } }
units: { hopLatency: ns }
`;

  test('gives the same events with none, one and three, whether keys span flows or not', async () => {
    const capture = await files.write('many.pcap', manyFlows());
    const rules = await files.write('many.yaml', MANY);
    const found: unknown[][] = [];
    for (const workers of ['', 'workers: 1\n', 'workers: 3\n']) {
      const config = await files.write(
        'many-int.yaml',
        `version: 1\nsources: [{ pcap: { file: many.pcap } }]\ndetect: { rules: many.yaml }\nflows: { rows: 1024 }\n${workers}`,
      );
      const { code, stdout, stderr } = await new Running(['collect', '--config', config, '--json']).end();
      expect([code, stderr]).toEqual([0, expect.any(String)]);
      found.push(ndjson(stdout).filter(({ type }) => type === 'event'));
    }
    const names = new Set(found[0]!.map((event) => (event as { rule: string }).rule));
    expect([...names].sort()).toEqual(['burst', 'flows', 'gone', 'path', 'queues', 'rate', 'slow', 'usual']);
    expect(found[1]).toEqual(found[0]);
    expect(found[2]).toEqual(found[0]);
    // The command that only detects finds them, too.
    const detected = await run(['detect', capture, '--rules', rules, '--json']);
    expect(ndjson(detected.stdout).filter(({ type }) => type === 'event')).toEqual(found[0]);
  });
});
