import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadProgram } from '../../src/node/load-program.js';
import { formatStfResult } from '../../src/stf/run-stf.js';
import { runStf } from '../../src/stf/switch-target.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.p4'))
  .map((name) => name.slice(0, -'.p4'.length))
  .sort();

describe('programs, each of one feature, with the packets they are to send', () => {
  test.each(names)('%s', (name) => {
    const result = runStf(loadProgram(join(folder, `${name}.p4`)), readFileSync(join(folder, `${name}.stf`), 'utf8'));
    expect(formatStfResult(result)).toMatch(/^passed/);
    expect(result.refused).toEqual([]);
    expect(result.packetsIn).toBeGreaterThan(0);
    expect(result.expectations).toBeGreaterThan(0);
  });

  test('are many', () => {
    expect(names.length).toBeGreaterThanOrEqual(90);
  });
});
