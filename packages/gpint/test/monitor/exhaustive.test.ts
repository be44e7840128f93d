import { GraphBuilder, Monitor, Paths, type SessionReport } from '@int/gpint';
import { describe, expect, it } from 'vitest';
import { ModelNetwork } from './model-network.js';
import { accountedFor, SECOND } from './scenario.js';

/** Packets whose fate is tried out in every combination; the ones after them arrive. */
const FREE = 8;

interface Shape {
  readonly name: string;
  readonly switches: number;
  readonly links: readonly (readonly [number, number])[];
  readonly paths: readonly (readonly number[])[];
}

const SHAPES: readonly Shape[] = [
  { name: 'one switch', switches: 1, links: [], paths: [[0]] },
  { name: 'two switches, one path', switches: 2, links: [[0, 1]], paths: [[0, 1]] },
  { name: 'two switches, a path each', switches: 2, links: [[0, 1]], paths: [[1], [0]] },
  {
    name: 'a line of three',
    switches: 3,
    links: [
      [0, 1],
      [1, 2],
    ],
    paths: [[0, 1, 2]],
  },
  {
    name: 'a star, its centre visited twice',
    switches: 3,
    links: [
      [0, 1],
      [0, 2],
    ],
    paths: [[1, 0, 2, 0]],
  },
  {
    name: 'a ring of four, two paths',
    switches: 4,
    links: [
      [0, 1],
      [1, 2],
      [2, 3],
      [0, 3],
    ],
    paths: [
      [0, 1, 2],
      [2, 3, 0],
    ],
  },
];

/** One session in which packet i is lost if bit i of `pattern` is set. */
function session(
  shape: Shape,
  pattern: number,
  entries: readonly number[] | null,
  ownToo: boolean,
): { report: SessionReport; boundNs: number } {
  const builder = new GraphBuilder();
  for (let node = 0; node < shape.switches; node++) builder.addNode(`s${node}`);
  for (const [a, b] of shape.links) builder.addLink(a, b);
  const graph = builder.build();
  const timeoutNs = SECOND;
  let free = 0;
  const network = new ModelNetwork({
    graph,
    seed: 0,
    extended: false,
    timeoutNs,
    ...(entries === null ? {} : { entries }),
    lose: (_, own) => (ownToo || !own) && free < FREE && ((pattern >>> free++) & 1) === 1,
  });
  const monitor = new Monitor({
    graph,
    plan: Paths.from(shape.paths),
    transport: network.transport,
    clock: network.clock,
    config: { timeoutNs, maxAttempts: 1 },
    ...(entries === null ? {} : { entries }),
  });
  network.receive = (payload, dscp) => monitor.receive(payload, dscp);
  let report: SessionReport | undefined;
  monitor.collect((each) => {
    report = each;
  });
  network.run();
  return { report: report!, boundNs: monitor.boundNs };
}

describe.each(SHAPES)(`every pattern of losses among the first ${FREE} packets: $name`, (shape) => {
  const patterns = Array.from({ length: 2 ** FREE }, (_, pattern) => pattern);

  it('collects everything if the links of the monitor lose nothing', () => {
    for (const pattern of patterns) {
      const { report, boundNs } = session(shape, pattern, null, false);
      expect([pattern, report.complete, accountedFor(report)]).toEqual([pattern, true, true]);
      expect(report.endedNs).toBeLessThanOrEqual(boundNs);
    }
  });

  it('ends by the bound and names what is missing if they lose packets as well, or there is only one', () => {
    for (const entries of [null, [0]]) {
      for (const pattern of patterns) {
        const { report, boundNs } = session(shape, pattern, entries, true);
        expect(report.endedNs).toBeLessThanOrEqual(boundNs);
        const lost = new Set(report.uncollected.map(({ node }) => node));
        for (let node = 0; node < shape.switches; node++) expect(report.telemetry.has(node)).toBe(!lost.has(node));
      }
    }
  });
});
