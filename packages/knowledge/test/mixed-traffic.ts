import type { Aggregate, Demand, SmallFlow, TrafficClusters } from '@int/knowledge';
import type { Random } from '@int/random';

export const LEAVES = 6;
export const SPINES = 4;
const HOSTS = 8;
const GBPS = 1e9;
export const CAPACITY_BPS = 10 * GBPS;
/** A flow of a tenth of a link is moved alone, and an aggregate has no more. */
export const ELEPHANT_BPS = CAPACITY_BPS / 10;

export interface MixedFlow extends SmallFlow {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  spine: number;
}

/** Elephants and many small flows between hosts of a leaf-spine fabric, on spines as a hash that prefers one puts them. */
export function mixedFlows(random: Random, small: number, elephants: number, preferred = 0): MixedFlow[] {
  const favourite = random.integer(SPINES);
  return Array.from({ length: small + elephants }, (_, k): MixedFlow => {
    const from = random.integer(LEAVES);
    const to = (from + 1 + random.integer(LEAVES - 1)) % LEAVES;
    // Rates of small flows are spread over two decades.
    const bps = k < elephants ? (1 + random.uniform()) * GBPS : 10 ** (6 + 2 * random.uniform());
    return {
      ...{ key: `f${k}`, from, to, bps, mostBps: ELEPHANT_BPS },
      source: Uint8Array.of(10, 0, from, 1 + random.integer(HOSTS)),
      destination: Uint8Array.of(10, 0, to, 1 + random.integer(HOSTS)),
      sourcePort: 1024 + random.integer(64_000),
      within: {
        source: { bytes: Uint8Array.of(10, 0, from, 0), length: 28 },
        destination: { bytes: Uint8Array.of(10, 0, to, 0), length: 28 },
      },
      spine: random.uniform() < preferred ? favourite : random.integer(SPINES),
    };
  });
}

export const pathsOf = (from: number, to: number): string[][] =>
  Array.from({ length: SPINES }, (_, spine) => [`l${from}-s${spine}`, `s${spine}-l${to}`]);

const elephantDemand = ({ key, bps, from, to, spine }: MixedFlow): Demand => ({
  ...{ key, bps, path: spine, paths: pathsOf(from, to) },
});

function aggregateDemand({ key, flows, bps }: Aggregate<MixedFlow>): Demand {
  const [{ from, to }] = flows as readonly [MixedFlow];
  const spread = new Array<number>(SPINES).fill(0);
  for (const flow of flows) spread[flow.spine]! += flow.bps;
  const only = spread.indexOf(bps);
  const paths = pathsOf(from, to);
  return only >= 0 ? { key, bps, path: only, paths } : { key, bps, path: -1, paths, spread };
}

/** What a controller would give the engineer: elephants, and the other flows in aggregates. */
export function demandsOf(
  flows: readonly MixedFlow[],
  clusters: TrafficClusters,
  timeMs = 0,
): { readonly demands: Demand[]; readonly aggregates: readonly Aggregate<MixedFlow>[] } {
  const elephants = flows.filter(({ bps }) => bps >= ELEPHANT_BPS);
  const { aggregates, left } = clusters.update(
    flows.filter(({ bps }) => bps < ELEPHANT_BPS),
    timeMs,
  );
  const missed = Object.values(left).reduce((sum, { flows: count }) => sum + count, 0);
  if (missed > 0) throw new Error(`${missed} flows are in no aggregate`);
  return { demands: [...elephants.map(elephantDemand), ...aggregates.map(aggregateDemand)], aggregates };
}
