import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { kafkaForTests } from '../../../.ci/kafka/for-tests.js';
import { inTime } from '../../../.ci/test/until.js';

// Two processors, a collector and a network for nine seconds; a broker that is not there is started first.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const DEMO = fileURLToPath(new URL('../dist/demo.js', import.meta.url));
it('shows what goes wrong in the network, and loses no report on the way', async () => {
  const { bootstrap } = await kafkaForTests();
  const prefix = `demo-${process.pid}.`;
  const args = ['--scenario', 'loop', '--seconds', '9', '--kafka', bootstrap.join(','), '--prefix', prefix];
  const child = spawn(process.execPath, [DEMO, ...args]);
  let output = '';
  child.stdout.on('data', (bytes) => {
    output += String(bytes);
  });
  child.stderr.on('data', (bytes) => {
    output += String(bytes);
  });
  const [code] = (await inTime('the end of the demo', once(child, 'exit'), {
    withinMs: 120_000,
    found: () => output,
    inVain: () => child.kill('SIGKILL'),
  })) as [number | null];
  expect(code, output).toBe(0);

  // Both take part, and one of them has the view of the network.
  expect(output).toMatch(/processor 1 {2}has partitions/);
  expect(output).toMatch(/processor 2 {2}has partitions/);
  expect(output).toMatch(/and the view of the network/);

  const labelled = [...output.matchAll(/it was so: loop (\S+),/g)].map(([, flow]) => flow);
  expect(labelled.length).toBeGreaterThan(0);
  const found = [...output.matchAll(/loop at switch \d+: (\S+) >/g)].map(([, flow]) => flow);
  for (const flow of labelled) expect(found, output).toContain(flow);

  const [, sent, received, reports, delivered] =
    /(\d+) sent, (\d+) received, (\d+) reports, (\d+) in Kafka/.exec(output) ?? [];
  expect(Number(sent), output).toBeGreaterThan(1000);
  expect([received, reports, delivered]).toEqual([sent, sent, sent]);
});
