import { randomBytes } from 'node:crypto';
import { BatchDecoder, encodeReport, TelemetryBatch } from '@int/codec';
import { FrameSlab } from '@int/collector';
import { KafkaSink } from '@int/sink-kafka';
import { describe, expect, it, vi } from 'vitest';
import { kafkaForTests } from '../../../.ci/kafka/for-tests.js';
import { until } from '../../../.ci/test/until.js';
import { record } from './captures.js';
import { Running, run } from './run.js';

// The first test that needs Kafka starts it, for all files.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const START_MS = 1_700_000_000_000;
const REPORTS = 200;

/** Reports of one flow over two seconds; from the second one on its packets go round in a circle. */
function telemetry(): TelemetryBatch {
  const frames = new FrameSlab({ frames: REPORTS, bytes: REPORTS * 256 }, 'report');
  for (let row = 0; row < REPORTS; row++) {
    const nodes = row < REPORTS / 2 ? [1, 2] : [1, 2, 1];
    const hops = nodes.map((nodeId) => ({ nodeId, hopLatency: 1000 + row, queueId: 0, queueOccupancy: 10 }));
    const payload = encodeReport(record(0, hops));
    // Not at the edge of a window: the slab's time is exact to a microsecond only.
    frames.append(payload, START_MS + row * 10 + 0.5);
  }
  const batch = new TelemetryBatch({ frames: REPORTS, hops: REPORTS * 8 });
  new BatchDecoder({ linkType: 'report' }).decode(batch, frames);
  return batch;
}

async function written(bootstrap: readonly string[]): Promise<string> {
  const prefix = `cli-${randomBytes(5).toString('hex')}.`;
  const sink = new KafkaSink({ bootstrap, topics: { prefix }, createTopics: { partitions: 1, replicas: 1 } });
  await sink.write(telemetry());
  // The collector goes on for a while after the last report.
  sink.advance(START_MS + 5000);
  await sink.close();
  expect(sink.totals().reports).toMatchObject({ delivered: REPORTS, pending: 0 });
  return prefix;
}

describe('int process', () => {
  it('prints windows and events as lines, and totals when it is ended', async () => {
    const { bootstrap } = await kafkaForTests();
    const prefix = await written(bootstrap);
    const args = ['process', '--kafka', bootstrap.join(), '--prefix', prefix, '--group', prefix, '--json'];
    const { code, stdout } = await run([...args, '--commit', '100ms', '--unit', 'hopLatency=us'], {
      interruptWhen: ({ stdout: shown }) => shown.includes('"switchWindow"') && shown.includes('"kind":"loop"'),
    });
    expect(code).toBe(0);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines[0]).toMatchObject({ type: 'units', units: { hopLatency: { text: 'us', factor: 1e-6 } } });
    expect(lines.at(-1)).toMatchObject({ type: 'total', reports: REPORTS, repeated: 0, bad: 0, lost: 0, late: 0 });
    expect(lines.at(-1)).toMatchObject({ corrected: 0, incomplete: 0, behindMs: 0 });
    const loop = lines.find(({ kind }) => kind === 'loop');
    expect(loop).toMatchObject({
      type: 'immediate',
      nodeId: 1,
      sinceNs: expect.stringMatching(/^170000000100(05|049)/),
    });
    const first = lines.find(({ type }) => type === 'flowWindow');
    expect(first).toMatchObject({ startNs: String(BigInt(START_MS) * 1_000_000n), reports: REPORTS / 2 });
    expect(first).toMatchObject({ revision: 0, complete: true, late: 0 });
    const ids = lines.flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('prints events, and the switches when it is ended, for people; another run has nothing to do', async () => {
    const { bootstrap } = await kafkaForTests();
    const prefix = await written(bootstrap);
    const args = ['process', '--kafka', bootstrap.join(), '--prefix', prefix, '--group', prefix, '--window', '500ms'];
    const first = await run([...args, '--commit', '100ms'], {
      interruptWhen: ({ stdout }) => stdout.includes('loop ended'),
    });
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/2023-11-14 22:13:21\.000[45]\d{5} {2}loop {2}at switch 1: 1 > 2 > 1/);
    expect(first.stderr).toContain(`int: ${REPORTS} reports, `);
    const again = await run(args, { interruptWhen: ({ stderr }) => stderr.includes('working on 2 partitions') });
    expect(again.code).toBe(0);
    expect(again.stderr).toContain('int: 0 reports, ');
  });

  it('serves its counts as metrics, and says there what it waits for', async () => {
    const { bootstrap } = await kafkaForTests();
    const prefix = await written(bootstrap);
    const args = ['process', '--kafka', bootstrap.join(), '--prefix', prefix, '--group', prefix, '--json'];
    // The real command: the thread that serves is a file of the build.
    const command = new Running([...args, '--commit', '100ms', '--metrics', '127.0.0.1:0']);
    const [, port] = await command.saying(/metrics at port (\d+)/);
    const page = async (name: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}/${name}`)).text();
    const metrics = await until('the count of reports', async () => {
      const text = await page('metrics');
      return text.includes(`int_process_reports_total ${REPORTS}\n`) && command.stdout.includes('"switchWindow"')
        ? text
        : false;
    });
    const health = await page('health');
    command.child.kill('SIGTERM');
    const { code, stderr } = await command.end();
    expect(code, stderr).toBe(0);
    expect(metrics).toContain('int_process_reports_late_total 0\n');
    expect(metrics).toContain('int_process_watermark_behind_seconds 0\n');
    expect(JSON.parse(health)).toMatchObject({
      healthy: true,
      status: 'ok',
      degraded: [],
      detail: { late: 0, trouble: null },
    });
  });

  it('ends with code 3 if there is no broker', async () => {
    const { code, stderr } = await run(['process', '--kafka', '127.0.0.1:1']);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^int: no Kafka broker at 127\.0\.0\.1:1: /);
  });

  it.each([
    [['process'], '--kafka'],
    [['process', '--kafka', 'somewhere'], 'Give HOST:PORT'],
    [['process', '--kafka', 'a:1', '--window', '7ms'], 'Give a window of 50ms or more'],
    [['process', '--kafka', 'a:1', '--window', '1009ms'], 'a multiple of 10 to 250 milliseconds'],
    [['process', '--kafka', 'a:1', '--commit', '1ms'], 'Give a time of 10ms or more'],
    [['process', '--kafka', 'a:1', '--format', 'xml'], '--format'],
    [['process', '--kafka', 'a:1', '--metrics-allow-host', 'name'], '--metrics-allow-host goes with --metrics'],
  ])('%j is a wrong command line', async (args, what) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toContain(what);
  });
});
