import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const WATCH = fileURLToPath(new URL('../dist/watch.js', import.meta.url));

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [WATCH, ...args], { encoding: 'utf8', timeout: 50_000 });
}

describe('the program', () => {
  test('prints what is true and what is found, in the order of time', () => {
    const { status, stdout, stderr } = run('--scenario', 'loop', '--seed', '3');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.trim().split('\n');
    const at = lines.map((line) => Number.parseFloat(line));
    expect(at).toEqual([...at].sort((a, b) => a - b));
    const first = (start: RegExp): number => lines.findIndex((line) => start.test(line));
    expect(first(/is true {2}loop flow=10\./)).toBe(0);
    expect(first(/found {4}loop flow=10\./)).toBeGreaterThan(0);
    expect(first(/found {4}blackHole flow=10\./)).toBeGreaterThan(first(/found {4}loop/));
    expect(first(/ended {4}blackHole flow=10\./)).toBeGreaterThan(first(/found {4}blackHole/));
    expect(lines.at(-1)).toMatch(/end: \d+ reports$/);
  });

  test.each([['--scenario', 'quiet'], ['--frob']])('says how it is used for %s', (...args) => {
    const { status, stdout, stderr } = run(...args);
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('Usage: node dist/watch.js [--scenario calm|');
  });
});
