import { gpint, grid } from '@int/gpint';
import { expect, test } from 'vitest';
import { transcriptOf } from '../../../.ci/test/readmes.js';
import { linesOf, probed } from '../src/gpint-probes.js';

/** Cell of the counter `GpintIngress.events`: recovery notices. */
const NOTICES = 6;
const LINK_MS = 0.05;
const PASS_MS = 2;

test('the lost probe is noticed by the switch before the dead link, and everything is collected', () => {
  const result = probed();
  const { report, happened, switches } = result;
  const { paths } = gpint(grid(3, 3), { paths: 3 });
  const walks = Array.from({ length: paths.count }, (_, path) => [...paths.path(path)]);
  // Every switch of the grid once, and each step is to a neighbour.
  expect(walks.flat().sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  for (const walk of walks) {
    for (const [index, node] of walk.slice(1).entries()) {
      const [down, right] = [0, 1].map((axis) => {
        const at = (of: number): number => (axis === 0 ? Math.floor(of / 3) : of % 3);
        return Math.abs(at(node) - at(walk[index]!));
      });
      expect(down! + right!).toBe(1);
    }
  }

  const [first = [], ...others] = walks;
  const [before, behind] = first.slice(-2) as [number, number];
  const of = (kind: string) => happened.filter((each) => each.kind === kind);
  // Whole paths first; then, behind the dead link, the rest of the one that was lost.
  expect(of('sent').map(({ nodes }) => nodes[0])).toEqual([...walks.map(([entry]) => entry), behind]);
  expect(of('notice').map(({ nodes }) => nodes)).toEqual([first.slice(0, -1)]);
  expect(of('home').map(({ nodes }) => nodes)).toEqual([...others, [behind]]);
  expect(report.links).toMatchObject([{ from: before, to: behind, status: 'unavailable' }]);
  // Links to the switch before and back, 100 ms in which it waits, and some passes.
  const least = 100 + first.length * LINK_MS;
  expect(of('notice')[0]?.ms).toBeGreaterThanOrEqual(least);
  expect(of('notice')[0]?.ms).toBeLessThan(least + 10 * PASS_MS);

  expect(report.complete).toBe(true);
  for (const [node, { machine }] of switches.entries()) {
    const probes = of('sent').filter(({ nodes }) => nodes[0] === node).length;
    expect([node, ...(report.telemetry.get(node)?.measurements ?? [])]).toEqual([node, node + probes]);
    expect([node, machine.counter('GpintIngress.events').read(NOTICES).packets]).toEqual([
      node,
      Number(node === before),
    ]);
  }
  expect(linesOf(result)).toEqual(
    transcriptOf('examples/gpint-probes/README.md', 'npm -s start -w @int/example-gpint-probes'),
  );
});
