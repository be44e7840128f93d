import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  components,
  euler,
  type Failure,
  fatTreeGraph,
  type Graph,
  gpint,
  grid,
  Paths,
  type Plan,
  type Replan,
  replan,
  ring,
  star,
  validatePlan,
  wattsStrogatz,
} from '../../../src/index.js';
import { measurePlan } from '../../../src/plan/measure.js';
import { SEED } from '../../seed.js';
import { connectedGraph, graphOf, linksOf } from '../graph/samples.js';

/** Whether a path uses something that failed. */
function isBroken(path: Uint32Array, failed: ReadonlySet<number>, dead: ReadonlySet<string>): boolean {
  return path.some((v, i) => failed.has(v) || (i > 0 && dead.has(pair(v, path[i - 1]!))));
}

function pair(a: number, b: number): string {
  return `${Math.min(a, b)} ${Math.max(a, b)}`;
}

/** Checks all that is promised of a repair. */
function expectRepaired(
  before: Graph,
  plan: Plan,
  failure: Failure,
  after: Replan,
  entries: readonly number[] | null,
): void {
  const failed = new Set(failure.nodes as readonly number[]);
  const dead = new Set((failure.links as [number, number][]).map(([a, b]) => pair(a, b)));
  const { graph } = after;
  expect(graph.names).toEqual(before.names);
  expect(linksOf(graph)).toEqual(
    linksOf(before).filter(([a, b]) => !dead.has(pair(a, b)) && !failed.has(a) && !failed.has(b)),
  );

  const old = Array.from({ length: plan.paths.count }, (_, p) => plan.paths.path(p));
  const sound = old.flatMap((path, p) => (isBroken(path, failed, dead) ? [] : [p]));
  const alive = entries?.filter((v) => !failed.has(v));
  const isGone = alive === undefined ? failed.size === before.nodeCount : alive.length === 0;
  if (isGone) {
    expect(after.changed).toEqual([]);
    expect(after.kept).toEqual(sound.map((_, i) => i));
    expect(after.plan.paths.count).toBe(sound.length);
  } else {
    expect(after.kept).toEqual(sound);
    for (const p of sound) expect(Array.from(after.plan.paths.path(p))).toEqual(Array.from(old[p]!));
  }
  expect([...after.kept, ...after.changed].sort((a, b) => a - b)).toEqual([...Array(after.plan.paths.count).keys()]);

  // What can be visited is visited; with as many paths as before, or one for each part with something to visit.
  const { of } = components(graph);
  const reachable = new Set(alive?.map((v) => of[v]!));
  const lost = [...before.names.keys()].filter((v) => failed.has(v) || (alive !== undefined && !reachable.has(of[v]!)));
  const kept = new Set(sound.flatMap((p) => Array.from(old[p]!)));
  expect(after.plan.uncovered).toEqual(lost.filter((v) => !kept.has(v)));
  const parts = new Set([...before.names.keys()].filter((v) => !kept.has(v) && !lost.includes(v)).map((v) => of[v]!))
    .size;
  const expected = sound.length + Math.max(old.length - sound.length, parts);
  const required = Uint8Array.from(before.names, (_, v) => (lost.includes(v) ? 0 : 1));
  const mask = entries === null ? null : Uint8Array.from(before.names, (_, v) => (entries.includes(v) ? 1 : 0));
  const report = validatePlan(graph, after.plan.paths, {
    required,
    entries: mask,
    ...(isGone ? {} : { paths: expected }),
  });
  expect(report.problems).toEqual([]);
  expect(after.plan).toEqual(measurePlan(graph, after.plan.paths, after.plan.algorithm, after.plan.optimal));
}

/** A graph, a number of paths, entry points, and two failures one after the other. */
const scenario = fc
  .oneof(
    connectedGraph(14),
    connectedGraph(14, { weighted: true }),
    fc.nat().map((seed) => wattsStrogatz(24, 4, 0.2, seed)),
  )
  .chain((graph) => {
    const node = fc.nat({ max: graph.nodeCount - 1 });
    const links = linksOf(graph);
    const failure = fc.record({
      nodes: fc.uniqueArray(node, { maxLength: 3 }),
      links: links.length === 0 ? fc.constant([]) : fc.uniqueArray(fc.constantFrom(...links), { maxLength: 4 }),
    });
    return fc.tuple(
      fc.constant(graph),
      fc.integer({ min: 1, max: Math.ceil(graph.nodeCount / 2) }),
      fc.option(fc.uniqueArray(node, { minLength: 1, maxLength: 3 })),
      failure,
      failure,
    );
  });

describe('replan', () => {
  it('keeps what is whole and covers what can be reached, failure after failure', () => {
    fc.assert(
      fc.property(scenario, ([graph, paths, entries, first, second]) => {
        const plan = gpint(graph, { paths, budgetMs: 5, ...(entries === null ? {} : { entries }) });
        const options = { budgetMs: 5, ...(entries === null ? {} : { entries }) };
        const once = replan(graph, plan, first, options);
        expectRepaired(graph, plan, first, once, entries);
        if (once.plan.uncovered.length > 0) return;
        const twice = replan(once.graph, once.plan, second, options);
        expectRepaired(once.graph, once.plan, second, twice, entries);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('touches nothing where no path used what failed', () => {
    const graph = grid(3, 2);
    const plan = measurePlan(
      graph,
      Paths.from([
        [0, 1, 2],
        [3, 4, 5],
      ]),
      'gpint',
      true,
    );
    const result = replan(graph, plan, {
      links: [
        ['r1c1', 'r2c1'],
        [2, 5],
        [0, 5],
      ],
    });
    expect(result.plan).toBe(plan);
    expect([result.kept, result.changed]).toEqual([[0, 1], []]);
    expect(result.graph.linkCount).toBe(5);
  });

  it('leads a path round a link that failed', () => {
    const plan = measurePlan(ring(6), Paths.from([[0, 1, 2, 3, 4, 5]]), 'gpint');
    const result = replan(ring(6), plan, { links: [['s3', 's4']] });
    expect(result.plan).toMatchObject({ longest: 6, overlap: 0, uncovered: [] });
    expect([result.kept, result.changed]).toEqual([[], [0]]);
  });

  it('gives each path its number back', () => {
    const graph = grid(4, 4);
    const plan = measurePlan(
      graph,
      Paths.from([
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10, 11],
        [12, 13, 14, 15],
      ]),
      'gpint',
    );
    const result = replan(graph, plan, { nodes: ['r2c2', 'r4c3'] });
    expect([result.kept, result.changed]).toEqual([
      [0, 2],
      [1, 3],
    ]);
    expect(result.plan.uncovered).toEqual([5, 14]);
    for (const [p, own] of [
      [1, [4, 6, 7]],
      [3, [12, 13, 15]],
    ] as const) {
      const common = own.filter((v) => result.plan.paths.path(p).includes(v)).length;
      expect(common).toBeGreaterThanOrEqual(2);
    }
  });

  it('adds paths where the network falls into more parts than paths broke', () => {
    const plan = gpint(star(4), { paths: 1 });
    const result = replan(star(4), plan, { nodes: ['hub'] });
    expect(result.plan.uncovered).toEqual([0]);
    expect(result.plan.paths.count).toBe(4);
    expect(result.changed).toEqual([0, 1, 2, 3]);
    expect(result.plan).toMatchObject({ longest: 1, overlap: 0 });
  });

  it('names what no entry point reaches any more, and plans the rest', () => {
    const graph = grid(6, 1);
    const plan = gpint(graph, { paths: 1, entries: [0] });
    const result = replan(graph, plan, { links: [[2, 3]] }, { entries: ['r1c1'] });
    expect(result.plan.paths.named(graph)).toEqual([['r1c1', 'r1c2', 'r1c3']]);
    expect(result.plan.uncovered).toEqual([3, 4, 5]);
    const nothing = replan(graph, plan, { nodes: [0] }, { entries: [0] });
    expect(nothing.plan.paths.count).toBe(0);
    expect(nothing.plan.uncovered).toEqual([0, 1, 2, 3, 4, 5]);
    expect([nothing.kept, nothing.changed]).toEqual([[], []]);
  });

  it('keeps the number of paths where one of them has nothing left to visit', () => {
    const graph = ring(4);
    const plan = measurePlan(graph, Paths.from([[0, 1, 2], [3], [1, 2]]), 'gpint');
    const gone = replan(graph, plan, { nodes: ['s4'] });
    expect([gone.kept, gone.changed]).toEqual([[0, 2], [1]]);
    expect(gone.plan.paths.path(1)).toHaveLength(1);
    const cut = replan(graph, plan, { links: [[1, 2]] });
    expect(cut.plan.paths.count).toBe(3);
    expect(cut.plan.uncovered).toEqual([]);
    expect(cut.kept).toEqual([1]);
  });

  it('does not plan for nodes that failed before', () => {
    const plan = gpint(wattsStrogatz(30, 4, 0.1, 3), { paths: 5 });
    const once = replan(wattsStrogatz(30, 4, 0.1, 3), plan, { nodes: ['s7'] });
    const twice = replan(once.graph, once.plan, { nodes: ['s20'] });
    expect(twice.plan.uncovered).toEqual([6, 19]);
    expect(twice.plan.paths.count).toBe(5);
  });

  it('repairs trails of links as paths over nodes', () => {
    const graph = fatTreeGraph(4);
    const result = replan(graph, euler(graph), { nodes: ['core-1'] });
    expect(result.plan).toMatchObject({ algorithm: 'gpint', uncovered: [graph.nodeOf('core-1')] });
    expect(result.plan.paths.count).toBe(1);
  });

  it('touches few paths of a big network, and gives the same for the same seed', () => {
    const graph = fatTreeGraph(16);
    const plan = gpint(graph, { paths: 96 });
    const result = replan(graph, plan, { nodes: ['core-5'], links: [['edge-p0-1', 'agg-p0-1']] }, { seed: 4 });
    expect(result.changed.length).toBeLessThanOrEqual(2);
    expect(result.plan.uncovered).toEqual([graph.nodeOf('core-5')]);
    const again = replan(graph, plan, { nodes: ['core-5'], links: [['edge-p0-1', 'agg-p0-1']] }, { seed: 4 });
    expect(Array.from(again.plan.paths.visits)).toEqual(Array.from(result.plan.paths.visits));
  });

  it('refuses nodes that are not there', () => {
    const plan = gpint(star(3), { paths: 1 });
    for (const failure of [{ nodes: ['x'] }, { nodes: [4] }, { links: [['hub', 'x'] as const] }]) {
      expect(() => replan(star(3), plan, failure)).toThrow(expect.objectContaining({ code: 'ERR_GPINT_UNKNOWN_NODE' }));
    }
    expect(() => replan(star(3), plan, {}, { entries: [-1] })).toThrow(
      expect.objectContaining({ code: 'ERR_GPINT_UNKNOWN_NODE' }),
    );
    expect(replan(graphOf(1, []), gpint(graphOf(1, []), { paths: 1 }), { nodes: [0] }).plan.uncovered).toEqual([0]);
  });
});
