import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { inTime } from '../../../.ci/test/until.js';
import { ended } from '../src/ended.js';

const program = (text: string) => spawn(process.execPath, ['-e', text], { stdio: ['ignore', 'pipe', 'ignore'] });

it('does not wait for a process that a signal has ended before', async () => {
  const child = program('setInterval(() => {}, 1000)');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect([child.exitCode, child.signalCode]).toEqual([null, 'SIGKILL']);
  await inTime('the end', ended(child));
});

it('waits for one that ends by itself, and kills one that does not', async () => {
  const willing = program('setTimeout(() => process.exit(3), 100)');
  await inTime('the end', ended(willing));
  expect(willing.exitCode).toBe(3);
  const stubborn = program("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('on')");
  await once(stubborn.stdout!, 'data');
  stubborn.kill();
  await inTime('the end', ended(stubborn, 100));
  expect(stubborn.signalCode).toBe('SIGKILL');
});
