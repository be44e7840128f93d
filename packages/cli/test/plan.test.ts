import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Graph, Paths, parseGraph, parseGraphFile, validatePlan } from '@int/gpint';
import { describe, expect, test } from 'vitest';
import { inTime } from '../../../.ci/test/until.js';
import { BIN, Running, run, runBin, temporaryFolder } from './run.js';
import { SEED } from './seed.js';

const files = temporaryFolder();
const execute = promisify(execFile);

interface PlanJson {
  readonly paths: readonly (readonly string[])[];
  readonly uncovered: readonly string[];
  readonly longest: number;
  readonly shortest: number;
  readonly overlap: number;
  readonly bound: { readonly longest: number; readonly overlap: number; readonly dearest?: number };
  readonly elapsedMs: number;
  readonly spread: number;
  readonly algorithm: string;
  readonly [name: string]: unknown;
}

interface ReplanJson extends PlanJson {
  readonly failed: { readonly links: readonly (readonly string[])[]; readonly switches: readonly string[] };
  readonly replan: {
    readonly paths: readonly (readonly string[])[];
    readonly uncovered: readonly string[];
    readonly kept: readonly number[];
    readonly changed: readonly number[];
  };
}

async function planned<T extends PlanJson = PlanJson>(args: readonly string[], input?: string): Promise<T> {
  const { code, stdout, stderr } = await run(['plan', '--json', ...args], input === undefined ? {} : { input });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout.endsWith('}\n')).toBe(true);
  expect(stdout.indexOf('\n')).toBe(stdout.length - 1);
  return JSON.parse(stdout) as T;
}

const numbered = (graph: Graph, paths: readonly (readonly string[])[]): Paths =>
  Paths.from(paths.map((path) => path.map((name) => graph.nodeOf(name))));

/** Holds what the command says against what its paths are. */
function expectSound(graph: Graph, plan: PlanJson, count?: number): void {
  const report = validatePlan(graph, numbered(graph, plan.paths), count === undefined ? {} : { paths: count });
  expect(report.problems).toEqual([]);
  const { longest, shortest, spread, overlap } = report;
  expect(plan).toMatchObject({ longest, shortest, spread, overlap, uncovered: [] });
  expect(plan.bound.longest).toBeLessThanOrEqual(longest);
  expect(plan.bound.overlap).toBeLessThanOrEqual(overlap);
  expect(plan.elapsedMs).toBeGreaterThan(0);
}

describe('int plan', () => {
  test.each([
    ['watts-strogatz:60:4:0.1', 18],
    ['fat-tree:4', 6],
    ['leaf-spine:6x3', 4],
    ['erdos-renyi:40:0.15', 7],
    ['grid:6x5', 3],
    ['ring:9', 2],
    ['star:7', 3],
    ['ring:5', 9],
  ])('plans %s in exactly %i paths that visit every switch', async (topology, paths) => {
    const seed = String(SEED);
    const plan = await planned([topology, '--paths', String(paths), '--seed', seed]);
    expectSound(parseGraph(topology, SEED), plan, paths);
    expect(Object.keys(plan).slice(0, 7)).toEqual([
      'paths',
      'uncovered',
      'longest',
      'shortest',
      'overlap',
      'bound',
      'elapsedMs',
    ]);
    expect(plan).toMatchObject({ algorithm: 'gpint', seed: SEED });
  });

  test('gives the same plan for the same seed', async () => {
    const args = ['watts-strogatz:80:4:0.2', '--paths', '20', '--seed', 'a text'];
    const { elapsedMs: _, ...first } = await planned(args);
    const { elapsedMs: __, ...second } = await planned(args);
    expect(second).toEqual(first);
    expect((await planned([...args.slice(0, -1), 'another'])).paths).not.toEqual(first.paths);
  });

  test('covers every link once by Euler trails, and each switch by a path of its own', async () => {
    const graph = parseGraph('watts-strogatz:30:4:0.3', 1);
    const trails = await planned(['watts-strogatz:30:4:0.3', '--algorithm', 'euler']);
    expectSound(graph, trails);
    const links = numbered(graph, trails.paths);
    const used = new Set<number>();
    for (let p = 0; p < links.count; p++) {
      const path = links.path(p);
      for (let i = 1; i < path.length; i++) used.add(graph.linkBetween(path[i - 1]!, path[i]!));
    }
    expect(used.size).toBe(graph.linkCount);
    expect(links.visits.length - links.count).toBe(graph.linkCount);
    const single = await planned(['watts-strogatz:30:4:0.3', '--algorithm', 'per-node']);
    expectSound(graph, single, 30);
    expect(single).toMatchObject({ longest: 1, algorithm: 'per-node' });
  });

  const EDGES = '# a small network\na b 2\nb c 1.5\nc d 4\nd a 1\nb d 1\n';

  test('reads edge lists from a file and from standard input alike', async () => {
    const path = await files.write('small.txt', EDGES);
    const plan = await planned([path, '--paths', '2']);
    expectSound(parseGraphFile(EDGES, path), plan, 2);
    const { elapsedMs: _, ...fromFile } = plan;
    const { elapsedMs: __, ...fromInput } = await planned(['-', '--paths', '2'], EDGES);
    expect(fromInput).toEqual(fromFile);
  });

  test('balances weights where links have them, and leaves them alone when told to', async () => {
    const plan = await planned(['-', '--paths', '2'], EDGES);
    expect(plan).toHaveProperty('dearest');
    expect(plan.bound.dearest).toBeLessThanOrEqual(plan.dearest as number);
    const plain = await planned(['-', '--paths', '2', '--weights', 'none'], EDGES);
    expect(plain).not.toHaveProperty('dearest');
    expect(plain).toMatchObject({ longest: 2, overlap: 0 });
  });

  test('reads GraphML with distances', async () => {
    const node = (id: number, latitude: number): string =>
      `<node id="${id}"><data key="l">Town ${id}</data><data key="a">${latitude}</data><data key="o">10</data></node>`;
    const text = `<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
      <key id="l" for="node" attr.name="label" attr.type="string"/>
      <key id="a" for="node" attr.name="Latitude" attr.type="double"/>
      <key id="o" for="node" attr.name="Longitude" attr.type="double"/>
      <graph edgedefault="undirected">${[0, 1, 2].map((id) => node(id, 10 * id)).join('')}
      <edge source="0" target="1"/><edge source="1" target="2"/></graph></graphml>`;
    const path = await files.write('towns.graphml', text);
    const plan = await planned([path, '--paths', '1', '--weights', 'distance']);
    expectSound(parseGraphFile(text, path, { weights: 'distance' }), plan, 1);
    expect(plan.paths[0]).toContain('Town 1');
    // 20 degrees of latitude are 2,224 km: 11 ms of light in fibre.
    expect(plan.dearest as number).toBeGreaterThan(10_000);
    expect(plan.dearest as number).toBeLessThan(13_000);
  });

  test('starts every path at an entry', async () => {
    const plan = await planned(['grid:4x4', '--paths', '3', '--entries', 'r1c1,r4c4']);
    expectSound(parseGraph('grid:4x4'), plan, 3);
    for (const path of plan.paths) expect(['r1c1', 'r4c4']).toContain(path[0]);
  });

  test('plans each part of a network that is in parts, if asked to', async () => {
    const text = 'a b\nb c\nx y\n';
    const refused = await run(['plan', '-', '--paths', '2'], { input: text });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/2 components.*--per-component/);
    expectSound(parseGraphFile(text, '-'), await planned(['-', '--paths', '2', '--per-component'], text), 2);
    const one = await run(['plan', '-', '--paths', '1', '--per-component'], { input: text });
    expect(one.code).toBe(2);
  });

  test('tells which paths have to change when links and switches fail', async () => {
    const args = ['fat-tree:4', '--paths', '6'];
    const before = await planned(args);
    const path = before.paths[0]!;
    const graph = parseGraph('fat-tree:4');
    const after = await planned<ReplanJson>([...args, '--fail', `${path[0]!}-${path[1]!},core-1`]);
    expect(after.paths).toEqual(before.paths);
    expect(after.failed).toEqual({ links: [[path[0]!, path[1]!]], switches: ['core-1'] });
    const { replan } = after;
    expect(replan.changed).toContain(0);
    for (const p of replan.kept) expect(replan.paths[p]).toEqual(before.paths[p]);
    expect(replan.uncovered).toEqual(['core-1']);
    const visited = new Set(replan.paths.flat());
    expect(graph.names.filter((name) => !visited.has(name))).toEqual(['core-1']);
    for (const each of replan.paths) expect(each.join(' ')).not.toContain(`${path[0]!} ${path[1]!}`);
  });

  test('stops within its budget with a plan', async () => {
    const plan = await planned(['watts-strogatz:400:4:0.1', '--paths', '7', '--budget', '1']);
    expectSound(parseGraph('watts-strogatz:400:4:0.1'), plan, 7);
  });

  test('shows paths, and what they are worth next to their bounds, to people', async () => {
    const { code, stdout, stderr } = await run(['plan', 'leaf-spine:4x2', '--paths', '2', '--fail', 'spine-1']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^ +path +visits +switches\n +1 +\d+ +(leaf|spine)-\d > /);
    expect(stdout).toMatch(/gpint: 2 balanced paths over 6 switches, 8 links, planned in [\d.]+ ms/);
    expect(stdout).toMatch(/\n +plan +bound\n +longest +\d+ +\d+/);
    expect(stdout).toMatch(/after the failure of spine-1\n/);
    expect(stdout).toMatch(/replanned in [\d.]+ ms: \d paths? changed, \d kept/);
    expect(stdout).toContain('not covered: 1 (spine-1)');
  });

  test('cuts paths to the width of a terminal, and nowhere else', async () => {
    const args = ['plan', 'ring:60', '--paths', '1'];
    const narrow = await run(args, { terminal: { columns: 50, rows: 20 }, env: { NO_COLOR: '1' } });
    const [, line] = narrow.stdout.split('\n');
    expect(line!.length).toBeLessThanOrEqual(50);
    expect(line).toMatch(/ \.\.\.$/);
    const whole = (await run(args)).stdout.split('\n')[1]!;
    expect(whole.match(/s\d+/g)).toHaveLength(60);
  });

  test('writes a plan of a hundred thousand visits whole', async () => {
    const plan = await planned(['leaf-spine:400x250', '--algorithm', 'euler']);
    expect(plan.paths.flat().length).toBeGreaterThanOrEqual(100_000);
    expectSound(parseGraph('leaf-spine:400x250'), plan);
  });
});

describe('int plan refuses with code 2 what the command line has wrong', () => {
  test.each([
    [['plan'], 'TOPOLOGY'],
    [['plan', 'fat-tree:4'], '--paths'],
    [['plan', 'fat-tree:4', '--paths', '0'], 'a number of paths from 1'],
    [['plan', 'fat-tree:4', '--paths', 'many'], '--paths'],
    [['plan', 'fat-tree:4', '--paths', '3', '--algorithm', 'magic'], 'gpint, euler, per-node'],
    [['plan', 'fat-tree:4', '--paths', '3', '--algorithm', 'euler'], '--paths goes with --algorithm gpint'],
    [['plan', 'fat-tree:4', '--entries', 'core-1', '--algorithm', 'per-node'], '--entries goes with'],
    [['plan', 'fat-tree:5', '--paths', '3'], 'even'],
    [['plan', 'torus:3', '--paths', '3'], 'watts-strogatz:'],
    [['plan', 'watts-strogatz:10', '--paths', '3'], 'of the form'],
    [['plan', 'fat-tree:4', '--paths', '3', '--budget', '0'], 'above 0'],
    [['plan', 'fat-tree:4', '--paths', '3', '--entries', 'core-9'], 'no switch "core-9"'],
    [['plan', 'fat-tree:4', '--paths', '3', '--entries', ','], 'Give names'],
    [['plan', 'fat-tree:4', '--paths', '3', '--fail', 'core-1-core-2'], 'neither a switch nor a link'],
    [['plan', 'fat-tree:4', '--paths', '3', '--weights', 'gold'], 'key, distance, none'],
    [['plan', 'fat-tree:4', 'fat-tree:6', '--paths', '3'], 'too many arguments'],
  ])('int %j', async (args, expected) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(expected);
  });
});

describe('int plan tells what is wrong with a topology', () => {
  test.each([
    ['a line of four words', 'a b\nb c 1 2\n', /line 2/],
    ['nothing', '', /no/],
    ['XML that ends early', '<graphml><graph>', /standard input/],
    ['a weight that is none', 'a b -3\n', /line 1/],
  ])('code 1 for %s', async (_, input, expected) => {
    const { code, stdout, stderr } = await run(['plan', '-', '--paths', '1'], { input });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(expected);
  });

  test('code 3 for a file that is not there, or a folder', async () => {
    const missing = await run(['plan', files.path('none.txt'), '--paths', '1']);
    expect(missing).toMatchObject({ code: 3, stdout: '' });
    expect(missing.stderr).toContain('no such file');
    expect(await run(['plan', files.path('.'), '--paths', '1'])).toMatchObject({ code: 3, stdout: '' });
  });
});

describe('the real command', () => {
  test('plans what comes through a pipe', async () => {
    const { code, stdout, stderr } = await runBin(['plan', '-', '--paths', '1', '--json'], 'a b\nb c\n');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect((JSON.parse(stdout) as PlanJson).longest).toBe(3);
  });

  test.each(['--json', '--seed=1'])('takes a reader that leaves early for no error, with %s', async (option) => {
    const code = files.path(`code${option}`);
    const command = [process.execPath, BIN, 'plan', 'leaf-spine:200x150', '--algorithm', 'euler', option]
      .map((word) => `'${word}'`)
      .join(' ');
    const line = `{ ${command}; echo $? > '${code}'; } | head -c 9; cat '${code}'`;
    const { stdout, stderr } = await execute('sh', ['-c', line], { timeout: 50_000 });
    expect({ end: stdout.slice(9), stderr }).toEqual({ end: '0\n', stderr: '' });
  });

  test('stops reading when it is interrupted', async () => {
    const running = new Running(['plan', '-', '--paths', '1'], { open: true });
    // More than a pipe and the streams around it hold: when it is taken, some of it has been read.
    const taken = new Promise((resolve) => running.child.stdin!.write('a b\n'.repeat(1 << 18), resolve));
    await inTime('a reader of the pipe', taken);
    running.child.kill('SIGINT');
    expect((await running.end()).stdout).toBe('');
  });
});
