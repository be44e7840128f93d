import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { p4Program, SWITCH } from './p4-programs.js';
import { Running, run, runBin, temporaryFolder } from './run.js';

const files = temporaryFolder();
const ENDLESS = p4Program(
  'log_msg("at work"); for (bit<48> i in 48w1 .. 48w200000000000000) { hdr.h.a = hdr.h.a + 3; }',
);

/** A pipe that nobody writes to. */
function pipe(name: string): string {
  execFileSync('mkfifo', [files.path(name)]);
  return files.path(name);
}

describe('int p4 with what strangers give', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('ends by %s in the midst of a packet that takes hours', async (signal) => {
    const path = await files.write(`endless-${signal}.p4`, ENDLESS);
    const running = new Running(['p4', 'play', '--limit', 'steps=900000000000000', path, '-'], '0 0102\n');
    await running.saying(/at work/);
    running.child.kill(signal);
    const { stderr } = await running.end();
    expect(running.child.signalCode).toBe(signal);
    expect(stderr).toContain('int: not ended 0.5 s after the signal: given up\n');
  });

  test('drops a packet that takes too many steps, and says so', async () => {
    const path = await files.write('steps.p4', ENDLESS);
    expect(await run(['p4', 'play', path, '-'], { input: '0 0102\n' })).toMatchObject({
      code: 0,
      stdout: '# packet 1 (nothing)\n',
    });
  });

  test('takes no more lines of commands, packets and packet tests than have an end soon', async () => {
    const path = await files.write('lines.p4', SWITCH);
    const many = await files.write('many.txt', 'x\n'.repeat(200_001));
    const refusal = `${many}: more than 200000 lines: this is no file of commands\n`;
    for (const args of [
      ['play', path, many],
      ['play', '--commands', many, path, '-'],
      ['stf', path, many],
    ]) {
      expect(await run(['p4', ...args]), args[0]).toMatchObject({ code: 1, stdout: '', stderr: `int: ${refusal}` });
    }
    const input = '\n'.repeat(200_001);
    expect(await run(['p4', 'play', path, '-'], { input })).toMatchObject({
      code: 1,
      stderr: 'int: standard input: more than 200000 lines: this is no file of commands\n',
    });
  });

  test('ends when the memory that it may have is used up', async () => {
    const big = p4Program(Array.from({ length: 20_000 }, (_, i) => `hdr.h.a = hdr.h.b + ${i % 200};`).join('\n'));
    const path = await files.write('big.p4', big);
    expect(await runBin(['p4', 'check', '--limit', 'memory=12', path])).toMatchObject({
      code: 1,
      stderr: 'int: the program needs more than 12 MB of memory (--limit memory=12)\n',
    });
  });

  test('reads only regular files beside the program and where -I says', async () => {
    const fifo = pipe('fifo.p4');
    const secret = '/etc/passwd';
    const text = `#include "fifo.p4"\n#include "${secret}"\n#include "/dev/zero"\n`;
    const { code, stdout } = await run(['p4', 'check', await files.write('includes.p4', text)]);
    expect(code).toBe(1);
    expect(stdout.match(/\[refused-include\]/g)).toHaveLength(3);
    expect(stdout).toContain("'fifo.p4' is not included: it is no regular file");
    expect(stdout).not.toContain(readFileSync(secret, 'utf8').split('\n')[0]);
    for (const path of [fifo, '/dev/zero']) {
      expect(await run(['p4', 'check', path])).toMatchObject({
        code: 3,
        stderr: `int: cannot open ${path}: it is no regular file\n`,
      });
    }
  });

  test('takes limits by their names, and shows them to who gets one wrong', async () => {
    const path = await files.write('limits.p4', SWITCH);
    const small = await run(['p4', 'check', '--limit', 'tokens=100', path]);
    expect(small).toMatchObject({ code: 1 });
    expect(small.stdout).toContain('(limit tokens) [limit-tokens]');
    expect(await run(['p4', 'check', '--limit', 'tokens=100000', '--limit', 'steps=1000', path])).toMatchObject({
      code: 0,
    });
    for (const wrong of ['tokens', 'tokens=0', 'tokens=1.5', 'nothing=1', 'constructor=1']) {
      const { code, stderr } = await run(['p4', 'check', '--limit', wrong, path]);
      expect(code).toBe(2);
      expect(stderr).toContain('state-bytes');
    }
  });

  test('shows nothing that a terminal would obey', async () => {
    const path = await files.write('obeyed.p4', p4Program('log_msg("\u001b[2J\u0007there"); s.egress_spec = 1;'));
    const { stderr } = await run(['p4', 'play', path, '-'], { input: '0 0102\n' });
    expect(stderr).toContain('there');
    expect(stderr).not.toContain('\u001b');
  });
});

describe('int p4 on its own thread', () => {
  test('reads, writes and ends as in this process', async () => {
    const path = await files.write('same.p4', SWITCH);
    const script = `! table_add I.t I.to 1 => 3\n${'0 01 02\n'.repeat(5_000)}! register_read I.sums 1\n`;
    const args = ['p4', 'play', path, '-'];
    expect(await runBin(args, script)).toEqual(await run(args, { input: script }));
    const wrong = `${'0 01 02\n'.repeat(3)}nonsense\n`;
    expect(await runBin(args, wrong)).toEqual(await run(args, { input: wrong }));
  });

  test('ends when nobody reads what it writes', async () => {
    const running = new Running(['p4', 'play', await files.write('head.p4', SWITCH), '-'], '0 01 02\n'.repeat(100_000));
    running.child.stdout!.once('data', () => running.child.stdout!.destroy());
    expect(await running.end()).toMatchObject({ code: 0, stderr: '' });
  });
});
