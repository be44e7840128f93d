import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { kafkaForTests } from '../../../.ci/kafka/for-tests.js';
import { inTime } from '../../../.ci/test/until.js';

// The first test that needs Kafka starts it, for all files.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const DEMO = fileURLToPath(new URL('../dist/demo.js', import.meta.url));

const INT = fileURLToPath(new URL('../../../packages/cli/bin/int.js', import.meta.url));
const CONFIG = fileURLToPath(new URL('../int.yaml', import.meta.url));

it('has a configuration that int collect takes', () => {
  const output = execFileSync(process.execPath, [INT, 'collect', '--config', CONFIG, '--check'], {
    encoding: 'utf8',
    timeout: 50_000,
  });
  expect(output).toContain('int.yaml: good');
});

it.each([
  ['--seconds', '8'],
  ['--seconds', 'x'],
  ['--scenario', 'fire'],
])('says in one line what is wrong with %s %s, before it starts anything', (...args) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [DEMO, ...args], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(new RegExp(`^${args[0]} is .+\\n$`));
});

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
