/**
 * What a change costs: from a fresh clone to the first figures of `npm start`, the build, the tests, all of CI. Each round is a
 * clone of its own, with what is committed. `--ref COMMIT` measures another commit, `--label before|after` says under which
 * name the figures are kept, `--parts start,build,tests,ci` what is measured, `--rounds N` how often, `--no-file`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beginRun, contentOf, REPOSITORY, readOptions, readResults, writeResults } from '@int/harness';
import { median } from './decode/statistics.js';

const values = readOptions({
  ref: { type: 'string', default: 'HEAD' },
  label: { type: 'string', default: 'after' },
  parts: { type: 'string', default: 'start,build,tests' },
  rounds: { type: 'string', default: '3' },
});
const around = beginRun('benchmarks/src/development.ts');
const PARTS = values.parts.split(',');
const ROUNDS = values.short ? 1 : Number(values.rounds);
const FILE = join(REPOSITORY, 'benchmarks', 'results', 'development.json');

/** One command: seconds on the clock, and of processor time of it and of what it started. */
interface Cost {
  readonly wallS: number;
  readonly cpuS: number;
  readonly exitCode: number;
}

/** Costs by name, one a round. */
type Figures = Record<string, Cost[]>;

/** What is kept under a label. */
interface Entry extends Pick<ReturnType<typeof around>, 'date' | 'node' | 'v8' | 'kernel' | 'machine'> {
  /** What was measured. */
  readonly commit: string;
  readonly medians: Record<string, number>;
  readonly figures: Figures;
}

/** What a build makes. */
const BUILT = 'packages/*/dist examples/*/dist native-afxdp/dist p4/dist';

const environment = { ...process.env, NO_COLOR: '1', TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: REPOSITORY, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}

function measure(folder: string, command: string, env: Record<string, string> = {}): Cost {
  const { stderr, status } = spawnSync(
    'bash',
    ['-c', `TIMEFORMAT='%R %U %S'; time { ( ${command} ) >/dev/null 2>&1; }`],
    {
      cwd: folder,
      encoding: 'utf8',
      env: { ...environment, ...env },
    },
  );
  const [wall = 0, user = 0, system = 0] = (stderr.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  return { wallS: wall, cpuS: user + system, exitCode: status ?? 1 };
}

/** Seconds until `npm start` shows a line of figures, and until it shows any line at all. It then runs to its end. */
async function start(folder: string): Promise<{ first: Cost; figures: Cost }> {
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  const child = spawn('npm', ['start'], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let first = Number.NaN;
  let figures = Number.NaN;
  const read = (line: string): void => {
    // What npm prints of itself is not what the project says.
    if (Number.isNaN(first) && line !== '' && !/^(>|npm )/.test(line)) first = seconds();
    if (Number.isNaN(figures) && /^\d\d:\d\d .* [1-9][\d,]* received/.test(line)) figures = seconds();
  };
  createInterface({ input: child.stdout }).on('line', read);
  createInterface({ input: child.stderr }).on('line', read);
  const exitCode = await new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)));
  const none = { cpuS: 0, exitCode };
  return { first: { wallS: first, ...none }, figures: { wallS: figures, ...none } };
}

async function round(commit: string, into: Figures): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'int-development-'));
  const add = (name: string, cost: Cost): void => {
    into[name] = [...(into[name] ?? []), cost];
    console.log(
      `  ${name.padEnd(44)}${cost.wallS.toFixed(1).padStart(9)} s${cost.cpuS.toFixed(0).padStart(8)} s of processors${cost.exitCode === 0 ? '' : `, exit code ${cost.exitCode}`}`,
    );
  };
  try {
    git('clone', '--quiet', REPOSITORY, folder);
    spawnSync('git', ['checkout', '--quiet', commit], { cwd: folder });
    if (PARTS.includes('ci')) {
      const ci = measure(folder, 'CI=true bash .ci/run >ci.log');
      add('.ci/run', ci);
      // The tests are its last step, with nothing beside them.
      const tests = /^-- tests: (\w+).* after (\d+) s$/m.exec(readFileSync(join(folder, 'ci.log'), 'utf8'));
      if (ci.exitCode !== 0) copyFileSync(join(folder, 'ci.log'), join(tmpdir(), 'int-development-ci.log'));
      if (tests !== null)
        add('npm test, in .ci/run', { wallS: Number(tests[2]), cpuS: 0, exitCode: tests[1] === 'done' ? 0 : 1 });
    }
    if (PARTS.some((part) => part !== 'ci')) add('npm ci', measure(folder, 'npm ci --no-fund --no-audit'));
    const unbuild = (): unknown => measure(folder, `rm -rf .turbo node_modules/.cache/turbo ${BUILT}`);
    if (PARTS.includes('start')) {
      unbuild();
      for (const name of ['npm start', 'npm start, again']) {
        const { first, figures } = await start(folder);
        add(`${name}: first line`, first);
        add(`${name}: first figures`, figures);
      }
    }
    if (PARTS.includes('build') || PARTS.includes('tests')) {
      unbuild();
      add('npm run build, from nothing', measure(folder, 'npm run build'));
      add('npm run build, nothing changed', measure(folder, 'npm run build'));
    }
    if (PARTS.includes('tests')) {
      measure(folder, 'npm run build:native');
      add('npm test, after the build', measure(folder, 'npm test', { INT_REQUIRE_ALL: '1' }));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Keeps what is measured so far. Parts can be measured at other times. */
function keep(commit: string, figures: Figures): Record<string, number> {
  const medians = Object.fromEntries(
    Object.entries(figures).map(([name, costs]) => [name, median(costs.map(({ wallS }) => wallS))]),
  );
  if (values['no-file'] || values.short) return medians;
  const kept = existsSync(FILE) ? contentOf(readResults<Record<string, Entry>>(FILE)) : {};
  const { medians: others, figures: before } = kept[values.label] ?? {};
  const head = around();
  const { date, node, v8, kernel, machine } = head;
  const entry: Entry = {
    ...{ date, node, v8, kernel, machine },
    commit,
    medians: { ...others, ...medians },
    figures: { ...before, ...figures },
  };
  writeResults(FILE, head, { ...kept, [values.label]: entry });
  return medians;
}

const commit = git('rev-parse', '--short', values.ref);
const figures: Figures = {};
let medians: Record<string, number> = {};
for (let k = 0; k < ROUNDS; k++) {
  console.log(`${values.label} (${commit}), round ${k + 1} of ${ROUNDS}`);
  await round(commit, figures);
  medians = keep(commit, figures);
}
console.log('\nMedians, seconds:');
for (const [name, seconds] of Object.entries(medians))
  console.log(`  ${name.padEnd(44)}${seconds.toFixed(1).padStart(9)}`);
