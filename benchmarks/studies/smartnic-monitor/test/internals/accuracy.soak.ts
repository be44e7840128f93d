import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readResults } from '@int/harness';
import { expect, test } from 'vitest';
import type { RunResult } from '../../src/study/run.js';

const PROGRAM = fileURLToPath(new URL('../../dist/accuracy.js', import.meta.url));

test('the accounts of the accuracy study close, whatever is lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'int-accuracy-'));
  try {
    // It ends with 1 if they do not.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [PROGRAM, '--short', '--out', folder]);
    expect(stdout).toContain('as fast as it can');
    expect(stderr).toContain('100000 reports a second');
    const { results } = readResults<{ results: RunResult[] }>(join(folder, 'accuracy.json'));
    expect(results.at(-1)!.plan.rate).toBe(0);
    for (const { closes, sent, endToEnd } of results) {
      expect(closes).toBe(true);
      expect(endToEnd.sent).toBe(sent);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
