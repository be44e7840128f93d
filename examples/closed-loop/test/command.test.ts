/** The command as its README gives it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../.ci/test/until.js';

const COMMAND = fileURLToPath(new URL('../dist/loop.js', import.meta.url));

test('the command shows a scan, its block with all stages, and ends by a signal', async () => {
  const child = spawn(process.execPath, [COMMAND, '--scene', 'scan', '--json'], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const lines = (): { readonly [key: string]: unknown }[] =>
    stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const states = (): unknown[] =>
    lines().flatMap(({ type, what, proposal }) =>
      type === 'note' && String(proposal).startsWith('block-') ? [what] : [],
    );
  const found = (): string => stderr + stdout.slice(-2000);
  await until('the scan to be blocked', () => child.exitCode !== null || states().includes('installed'), {
    withinMs: 150_000,
    found,
  });
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = await ended;
  expect([code, found()]).toEqual([0, found()]);
  expect(states().slice(0, 3)).toEqual(['proposed', 'approved', 'installed']);
  const incident = lines().find(({ type, kind }) => type === 'incident' && kind === 'scan-vertical');
  expect(incident).toMatchObject({ operands: { failures: 9, successes: 0 } });
  expect(stderr).toContain('198.51.100.7 tries the ports of files');
  expect(lines().at(-1)).toMatchObject({ type: 'total', proposals: { installed: 1 } });
}, 180_000);
