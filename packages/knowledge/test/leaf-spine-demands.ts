import type { Demand, LinkCapacity } from '@int/knowledge';
import type { Random } from '@int/random';

const GBPS = 1e9;

/** Links of a leaf-spine fabric: `l0-s1` from leaf 0 up to spine 1, `s1-l0` down again. */
export function leafSpineLinks(leaves: number, spines: number, capacityBps: number): LinkCapacity[] {
  return Array.from({ length: leaves * spines }, (_, k) => [Math.floor(k / spines), k % spines] as const).flatMap(
    ([leaf, spine]) => [
      { key: `l${leaf}-s${spine}`, capacityBps },
      { key: `s${spine}-l${leaf}`, capacityBps },
    ],
  );
}

/** Flows between random leaves, each on a random spine, as a hash puts them: many small ones and some elephants. */
export function hashedDemands(random: Random, leaves: number, spines: number, flows: number): Demand[] {
  return Array.from({ length: flows }, (_, k) => {
    const from = random.integer(leaves);
    const to = (from + 1 + random.integer(leaves - 1)) % leaves;
    const isElephant = random.uniform() < 0.2;
    return {
      key: `f${k}`,
      bps: (isElephant ? 1 + random.uniform() : 0.2 * random.uniform()) * GBPS,
      path: random.integer(spines),
      paths: Array.from({ length: spines }, (_, spine) => [`l${from}-s${spine}`, `s${spine}-l${to}`]),
    };
  });
}
