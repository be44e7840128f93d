/** How low the highest load can be: the oracles of the congestion scenario. */
import highs from 'highs';

/** Flows between two leaves, each over one of the spines, beside a rest that stays. Loads are shares of a link. */
export interface Choice {
  /** Links of each spine, from the first leaf to the second. */
  readonly paths: readonly (readonly string[])[];
  readonly rest: ReadonlyMap<string, number>;
  readonly flows: readonly number[];
}

let solver: ReturnType<typeof highs> | null = null;

/** The linear program's: flows may be divided. By another's solver. */
export async function dividedOptimum({ paths, rest, flows }: Choice): Promise<number> {
  solver ??= highs();
  const shares = flows.map((flow, f) => ` f${f}: ${paths.map((_, p) => `x${f}_${p}`).join(' + ')} = ${flow}`);
  const links = [...rest].map(([link, load], l) => {
    const own = paths.flatMap((path, p) => (path.includes(link) ? flows.map((_, f) => `x${f}_${p}`) : []));
    return ` l${l}: U${own.map((name) => ` - ${name}`).join('')} >= ${Math.max(0, load)}`;
  });
  const text = `Minimize\n obj: U\nSubject To\n${[...shares, ...links].join('\n')}\nEnd`;
  return (await solver).solve(text).ObjectiveValue;
}

/** That of the best of all ways to put whole flows on paths. */
export function undividedOptimum({ paths, rest, flows }: Choice): number {
  let best = Number.POSITIVE_INFINITY;
  for (let choice = 0; choice < paths.length ** flows.length; choice++) {
    const loads = new Map(rest);
    for (const [f, flow] of flows.entries()) {
      const path = paths[Math.floor(choice / paths.length ** f) % paths.length]!;
      for (const link of path) loads.set(link, (loads.get(link) ?? 0) + flow);
    }
    best = Math.min(best, Math.max(...loads.values()));
  }
  return best;
}
