import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, describe, expect, it } from 'vitest';
import { LENGTH } from '../../../../.ci/test/length.js';
import { inTime } from '../../../../.ci/test/until.js';
import { bundle } from '../bundle.js';
import { CASES } from './cases.js';

/** What the process says of each case: see hostile.program. */
interface Outcome {
  readonly at: number;
  readonly name: string;
  readonly ended: string;
  readonly said: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

const CPU_MS = 5_000;
const PEAK_MB = 512;
/** Characters of diagnostics: about fifty, each with two places. */
const SAID = 65_536;
/** Of objects in the process: with what the engine needs beside, it stays below the peak. */
const HEAP_MB = 320;
/** The short form takes each eleventh case. */
const STEP = LENGTH < 1 ? 11 : 1;
/** Of one process with its cases, on a machine that has much else to do. */
const PATIENCE_MS = 240_000;

let program = '';

beforeAll(async () => {
  program = await bundle(new URL('hostile.program.ts', import.meta.url));
});

/** Runs the cases at these positions, one after the other, in one process. */
async function run(from: number, to: number): Promise<readonly Outcome[]> {
  const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MB}`, program, ...[from, to, STEP].map(String)]);
  let said = '';
  let complaints = '';
  child.stdout.on('data', (data) => {
    said += data;
  });
  child.stderr.on('data', (data) => {
    complaints = `${complaints}${data}`.slice(0, 2_000);
  });
  const [code] = await inTime('the end of the cases', once(child, 'close'), {
    withinMs: PATIENCE_MS,
    found: () => said + complaints,
    inVain: () => child.kill('SIGKILL'),
  });
  const outcomes = said
    .trim()
    .split('\n')
    .map((line): Outcome => JSON.parse(line));
  expect(code, `after case ${outcomes.at(-1)?.name}: ${complaints}`).toBe(0);
  return outcomes;
}

describe('programs, commands and packets that a stranger gives', () => {
  const middle = Math.floor(CASES.length / 2 / STEP) * STEP;

  it.each([
    [0, middle],
    [middle, CASES.length],
  ])(
    'end as they should, within bounds (%i to %i)',
    async (from, to) => {
      const outcomes = await run(from, to);
      expect(outcomes.map(({ name, ended }) => ({ name, ended }))).toEqual(
        CASES.slice(from, to)
          .filter((_, at) => at % STEP === 0)
          .map(({ name, ends: ended }) => ({ name, ended })),
      );
      const isSlow = ({ cpuMs }: Outcome): boolean => cpuMs > CPU_MS;
      const isLoud = ({ said, ended }: Outcome): boolean => said > SAID && !ended.startsWith('dropped');
      expect(outcomes.filter(isSlow)).toEqual([]);
      expect(outcomes.filter(isLoud)).toEqual([]);
      expect(Math.max(...outcomes.map(({ peakMb }) => peakMb))).toBeLessThan(PEAK_MB);
    },
    PATIENCE_MS + 10_000,
  );

  it('are a hundred and more, each of another kind', () => {
    expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
    expect(CASES.length).toBeGreaterThan(100);
  });
});
