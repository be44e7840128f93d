import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
// Without the length: what takes long there has nothing to do with poison mode.
const { INT_LONG, ...environment } = process.env;

const isLong = INT_LONG === '1' && environment.INT_POISON === undefined;

describe.runIf(isLong)('all tests of the programs', () => {
  test.each([1, 2, 3])(
    'hold in poison mode, seed %i',
    (seed) => {
      const { status, stdout } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', 'p4/test'], {
        cwd: root,
        encoding: 'utf8',
        env: { ...environment, INT_POISON: String(seed) },
        timeout: 900_000,
      });
      expect(status, stdout.slice(-4000)).toBe(0);
    },
    1_000_000,
  );
});
