import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const DEMO = fileURLToPath(new URL('../dist/demo.js', import.meta.url));

test('the demonstration ends by itself where nobody can stop it, every report that it took was read, and nothing happened yet', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [DEMO, '--json'], {
    maxBuffer: 1 << 28,
    env: { ...process.env, INT_DEMO_PACKETS: process.env.INT_LONG === '1' ? '30000' : '8000' },
    timeout: 50_000,
  });
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map(
      (line) =>
        JSON.parse(line) as { type: string; rule?: string; received?: number; decoded?: number; reports?: number },
    );
  const total = lines.find(({ type }) => type === 'total');
  expect(total?.received).toBeGreaterThan(100);
  // Its first fault comes after ten seconds; a machine that stands still for three makes flows silent.
  const events = lines.filter(({ type, rule }) => type === 'event' && rule !== 'silent-flow');
  expect(events).toEqual([]);
});
