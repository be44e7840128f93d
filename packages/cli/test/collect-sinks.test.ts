import { readdir } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { kafkaForTests } from '../../../.ci/kafka/for-tests.js';
import { coalescedFrame, pcap, reportFrame } from './captures.js';
import { ndjson, run, temporaryFolder } from './run.js';

// The first test that needs Kafka starts it, for all files.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const files = temporaryFolder();

interface Counts {
  readonly offered: number;
  readonly delivered: number;
  readonly pending: number;
}
type Sinks = Readonly<Record<string, Readonly<Record<string, Counts>>>>;

const RULES = 'version: 1\nrules: [{ name: all, priority: 1, match: any, detect: { noop: {} } }]\n';

/** Runs a configuration, whose sources end by themselves or when enough has come. */
async function collect(
  name: string,
  text: string,
  enough = Number.POSITIVE_INFINITY,
): Promise<Record<string, unknown>> {
  const path = await files.write(name, text);
  const { code, stdout, stderr } = await run(['collect', '--config', path, '--json'], {
    interruptWhen: ({ stdout: shown }) => Number(/"received":(\d+)(?!.*"received")/s.exec(shown)?.[1] ?? 0) >= enough,
  });
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return ndjson(stdout).at(-1)!;
}

describe('int collect with sinks', () => {
  test('writes a capture to Parquet: all of it is delivered when it ends', async () => {
    await files.write('one.pcap', pcap([reportFrame(), coalescedFrame()]));
    await files.write('rules.yaml', RULES);
    const total = await collect(
      'parquet.yaml',
      `version: 1
sources: [{ pcap: { file: one.pcap } }]
detect: { rules: rules.yaml }
flows: { rows: 16 }
drain: 1min
sinks: [{ parquet: { directory: history } }]
`,
    );
    const { parquet } = total.sinks as Sinks;
    const all = (records: number): Partial<Counts> => ({ offered: records, delivered: records, pending: 0 });
    expect(parquet).toMatchObject({ reports: all(4), events: all(4), flows: all(1) });
    const written = await readdir(files.path('history'), { recursive: true });
    expect(written.filter((name) => name.endsWith('.parquet')).length).toBeGreaterThanOrEqual(3);
  });

  test('writes a capture to Kafka, from where another collector has the same reports', async () => {
    const { bootstrap } = await kafkaForTests();
    const brokers = JSON.stringify(bootstrap);
    const prefix = `cli-${process.pid}-${Date.now()}.`;
    await files.write('two.pcap', pcap([reportFrame(), coalescedFrame(), reportFrame()]));
    const total = await collect(
      'to-kafka.yaml',
      `version: 1
sources: [{ pcap: { file: two.pcap } }]
flows: { rows: 16 }
drain: 1min
sinks: [{ kafka: { brokers: ${brokers}, prefix: "${prefix}", partitions: 2, records: [reports, flows] } }]
`,
    );
    const { kafka } = total.sinks as Sinks;
    expect(kafka).toMatchObject({
      reports: { offered: 5, delivered: 5, pending: 0 },
      flows: { offered: 1, delivered: 1, pending: 0 },
    });
    const read = await collect(
      'from-kafka.yaml',
      `version: 1
sources: [{ kafka: { brokers: ${brokers}, topic: "${prefix}reports", group: "${prefix}group", from: earliest } }]
`,
      5,
    );
    expect(read).toMatchObject({ received: 5, decoded: 5, reports: 5 });
  });
});
