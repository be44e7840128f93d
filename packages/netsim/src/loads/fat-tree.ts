/** A link between two switches, in one direction. */
export interface LoadLink {
  /** `<from>><to>`, such as `e0>a1`: edge, aggregation and core switches are numbered from 0. */
  readonly key: string;
  readonly capacityBps: number;
}

/** A fat tree of k = 4 (Al-Fares et al., SIGCOMM 2008): 8 edge, 8 aggregation and 4 core switches, 32 links. */
export const FAT_TREE = { edges: 8, aggregations: 8, cores: 4, pods: 4, half: 2 } as const;

const { edges, half } = FAT_TREE;

/** All links, both directions. */
export function fatTreeLinks(capacityBps: number): LoadLink[] {
  const links: LoadLink[] = [];
  const add = (a: string, b: string): void => {
    links.push({ key: `${a}>${b}`, capacityBps }, { key: `${b}>${a}`, capacityBps });
  };
  for (let pod = 0; pod < FAT_TREE.pods; pod++) {
    for (let a = 0; a < half; a++) {
      for (let e = 0; e < half; e++) add(`e${half * pod + e}`, `a${half * pod + a}`);
      for (let c = 0; c < half; c++) add(`a${half * pod + a}`, `c${half * a + c}`);
    }
  }
  return links;
}

/** The four shortest paths between edge switches of two pods, as keys of links: which aggregation switch, then which core. */
export function pathsBetween(from: number, to: number): string[][] {
  if (from === to || from >= edges || to >= edges) throw new RangeError(`no paths from edge ${from} to ${to}`);
  const [pod, other] = [Math.floor(from / half), Math.floor(to / half)];
  const way = (...nodes: string[]): string[] => nodes.slice(1).map((node, k) => `${nodes[k]!}>${node}`);
  return Array.from({ length: half * half }, (_, path) => {
    const [a, c] = [Math.floor(path / half), path];
    if (pod === other) return way(`e${from}`, `a${half * pod + a}`, `e${to}`);
    return way(`e${from}`, `a${half * pod + a}`, `c${c}`, `a${half * other + a}`, `e${to}`);
  });
}
