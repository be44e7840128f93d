import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Graph, perNode, wattsStrogatz } from '@int/gpint';
import { aligned, contentOf, readResults, runStudy } from '@int/harness';
import { Random } from '@int/random';
import { afterAll, describe, expect, test } from 'vitest';
import { elementsOf } from '../../../../../.ci/test/xml.js';
import { buildScenario } from '../../src/monitor/network.js';
import { gpintMonitor } from '../../src/study/definition.js';
import type { Cell } from '../../src/study/matrix.js';
import { type RepetitionTask, runRepetition } from '../../src/study/repetition.js';
import type { StudyResults } from '../../src/study/report.js';
import { placeHosts, SURROUNDINGS, serviceRate, visitsPerPacket } from '../../src/study/surroundings.js';
import { SEED as RUN_SEED } from '../seed.js';

const SEED = String(RUN_SEED);
const SCRIPT = new URL('../../dist/study.js', import.meta.url);

const execute = promisify(execFile);
const folders: string[] = [];

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'study-'));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Runs the program in this process. */
async function run(args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const code = await runStudy(
    gpintMonitor(SCRIPT),
    args,
    (text) => {
      out += text;
    },
    (text) => {
      err += `${text}\n`;
    },
  );
  return { code, out, err };
}

const CELL: Cell = {
  method: 'gpint-3',
  load: 14_000,
  switches: 20,
  loss: 0.05,
  losesFeedback: true,
  recover: true,
};
const task = (cell: Partial<Cell>, seed = SEED): RepetitionTask => ({
  cell: { ...CELL, ...cell },
  repetition: 0,
  rounds: 3,
  seed,
});

/** Links between two nodes. */
function distance(graph: Graph, from: number, to: number): number {
  let reached = new Set([from]);
  for (let links = 0; ; links++) {
    if (reached.has(to)) return links;
    reached = new Set(
      [...reached].flatMap((node) => [node, ...graph.neighbours.subarray(graph.first[node], graph.first[node + 1])]),
    );
  }
}

describe('a repetition', () => {
  test('gives the same numbers for the same seed, and others for another', () => {
    const [one, same, other] = [task({}), task({}), task({}, `${SEED} other`)].map((each) =>
      runRepetition({ ...each, cell: { ...each.cell, load: 2000 }, rounds: 1 }),
    );
    expect(same!.measured).toEqual(one!.measured);
    expect(same!.virtualSeconds).toBe(one!.virtualSeconds);
    expect(other!.measured).not.toEqual(one!.measured);
  });

  test('with recovery collects every switch over links that lose a fifth of all packets', () => {
    const { measured } = runRepetition(task({ loss: 0.2, method: 'gpint-3-ft' }));
    expect(measured.failedSessions).toBe(0);
    expect(measured.probes).toBeGreaterThanOrEqual(6);
    expect(measured.recoveryRatio).toBeCloseTo((100 * (measured.probes - 6)) / 6, 6);
  });

  test('without recovery and loss uses the busiest switch as the paper says, and loses nothing', () => {
    const { measured } = runRepetition({ ...task({ loss: 0, load: 10_000, recover: false }), rounds: 40 });
    expect(measured.busiest).toBeGreaterThan(82);
    expect(measured.busiest).toBeLessThan(91);
    expect(measured).toMatchObject({
      failedSessions: 0,
      failedProbes: 0,
      backgroundLoss: 0,
      recoveryRatio: 0,
      probes: 6,
    });
  });

  test('saturates the busiest switch under high load, which loses packets', () => {
    const { measured } = runRepetition(task({ loss: 0, method: 'snmp' }));
    expect(measured.busiest).toBeGreaterThan(99);
    expect(measured.backgroundLoss).toBeGreaterThan(1);
    expect(measured.backgroundLoss).toBeLessThan(20);
  });

  test('without traffic sends one probe more for each link of its paths that loses one', () => {
    // 20 switches on 6 paths: 14 links, each tried once, since recovery goes on behind the link.
    const quiet = { load: 0, loss: 0.2, losesFeedback: false } as const;
    const { measured } = runRepetition({ ...task(quiet), rounds: 300 });
    expect(Math.abs(measured.probes - 6 - 14 * 0.2)).toBeLessThan(5 * Math.sqrt((14 * 0.2 * 0.8) / 300));
    expect(measured.failedSessions).toBe(0);
  });
});

describe('the surroundings', () => {
  test('put hosts at switches as evenly as possible', () => {
    const count = (switches: number): number[] => {
      const at = new Array<number>(switches).fill(0);
      for (const node of placeHosts(switches, new Random(SEED))) at[node] = at[node]! + 1;
      return [...new Set(at)].sort();
    };
    expect([count(20), count(40), count(100)]).toEqual([[3], [1, 2], [0, 1]]);
  });

  test('predict the visits of a packet from the routes: distance and one', () => {
    const graph = wattsStrogatz(12, 4, 0.1, SEED);
    const hosts = placeHosts(12, new Random(SEED));
    const plan = perNode(graph);
    const { built } = buildScenario({
      graph,
      plan,
      seed: SEED,
      network: { hosts: { count: hosts.length, attach: hosts } },
    });
    const visits = visitsPerPacket(built, hosts);
    let expected = 0;
    for (const [a, from] of hosts.entries()) {
      for (const [b, to] of hosts.entries()) if (a !== b) expected += distance(graph, from, to) + 1;
    }
    const total = visits.reduce((sum, value) => sum + value, 0);
    expect(total).toBeCloseTo(expected / (hosts.length * (hosts.length - 1)), 9);
    expect(serviceRate(visits)).toBeCloseTo((Math.max(...visits) * 10_000) / SURROUNDINGS.utilisation, 6);
  });
});

describe('the program', () => {
  const tiny = ['--repetitions', '1', '--short', '--only', 'fig13,probes', '--workers', '0', '--seed', SEED];

  test('writes charts, results and a report', async () => {
    const first = temporary();
    const { code, out, err } = await run([...tiny, '--out', first]);
    expect(code).toBe(0);
    expect(err).toContain(`results in ${first}`);
    expect(out).toContain('## Figure 13a: ');
    expect(readdirSync(first).sort()).toEqual(['figure-13a.svg', 'figure-13b.svg', 'report.md', 'study.json']);
    expect(aligned(readFileSync(join(first, 'report.md'), 'utf8'))).toBe(out);
    elementsOf(readFileSync(join(first, 'figure-13a.svg'), 'utf8'));
    const { results, outcomes } = readResults<StudyResults>(join(first, 'study.json'));
    // Five methods in two sizes, and the probes of 25 and 30 paths in four ways.
    expect(results).toHaveLength(5 * 2 + 8);
    expect(outcomes.some(({ outcome }) => outcome === 'not measured')).toBe(true);
  });

  test('replaces the figures that it measures, and leaves the others', async () => {
    const folder = temporary();
    await run([...tiny, '--out', folder]);
    const before = readResults<StudyResults>(join(folder, 'study.json'));
    const again = tiny.map((arg) => (arg === 'fig13,probes' ? 'probes' : arg === SEED ? `${SEED} other` : arg));
    expect((await run([...again, '--out', folder])).code).toBe(0);
    const after = readResults<StudyResults>(join(folder, 'study.json'));
    const isProbes = ({ cell }: StudyResults['results'][number]): boolean => cell.load === 0;
    expect(after.results.map(({ cell }) => cell)).toEqual(before.results.map(({ cell }) => cell));
    expect(after.results.filter((each) => !isProbes(each))).toEqual(before.results.filter((each) => !isProbes(each)));
    expect(after.results.filter(isProbes)).not.toEqual(before.results.filter(isProbes));
    expect(after.parts).toMatchObject({ probes: { arguments: [...again, '--out', folder] } });
    expect(after.arguments).toEqual(before.arguments);
  });

  test('computes the same for the same seed, on threads or without', async () => {
    const [here, threads] = [temporary(), temporary()];
    const args = [fileURLToPath(SCRIPT), '--repetitions', '1', '--short', '--only', 'probes', '--seed', SEED];
    await execute(process.execPath, [...args, '--workers', '0', '--out', here]);
    const { stdout, stderr } = await execute(process.execPath, [...args, '--workers', '2', '--out', threads]);
    expect(stdout).toContain('## Probes of a session');
    expect(stderr).toContain('2 threads');
    const [one, other] = [here, threads].map((folder) => contentOf(readResults(join(folder, 'study.json'))));
    expect(other).toEqual(one);
  });

  test('explains itself, and refuses what it does not understand', async () => {
    expect(await run(['--help'])).toMatchObject({ code: 0, err: '' });
    for (const [args, message] of [
      [['--only', 'fig7'], 'not "fig7"'],
      [['--repetitions', '0'], '--repetitions must be a whole number from 1 to 1000'],
      [['--workers', 'two'], '--workers must be'],
      [['--frob'], '--frob'],
    ] as const) {
      const { code, out, err } = await run(args);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain(message);
      expect(err).toContain('Usage: npm run study -- gpint-monitor');
    }
  });
});
