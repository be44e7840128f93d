import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

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
