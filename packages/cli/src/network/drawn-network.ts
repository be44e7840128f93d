/** Networks that were drawn for something else: GraphML, and the plans of `int plan`. */
import { parseGraphmlNetwork } from '@int/gpint';
import type { TopologySpec } from '@int/network';

export interface NetworkFile {
  readonly spec: TopologySpec;
  /** Number of nodes in the file. */
  readonly nodes: number;
  /** Names of the nodes that have no switch id. */
  readonly nameless: readonly string[];
}

interface Drawn {
  readonly nodes: readonly { readonly name: string; readonly id: number | null }[];
  readonly links: readonly {
    readonly source: number;
    readonly target: number;
    readonly sourcePort: number | null;
    readonly targetPort: number | null;
  }[];
}

/** The names that Mininet and many labs give: the number is the id. */
const NUMBERED = /^(?:s|sw|switch)[-_ ]?(0|[1-9]\d{0,8})$/i;
const NUMBER = /^(?:0|[1-9]\d{0,9})$/;
const MOST_ID = 0xffffffff;

/** The id that a name says: `17`, `s17`, `switch-17`. */
function idOfName(name: string): number | null {
  const text = NUMBER.test(name) ? name : NUMBERED.exec(name)?.[1];
  return text === undefined || Number(text) > MOST_ID ? null : Number(text);
}

interface DrawnSwitch {
  readonly name?: string;
  readonly ports: Record<string, { to: string }>;
  readonly links: string[];
}

function specOf({ nodes, links }: Drawn): NetworkFile {
  const taken = new Set(nodes.flatMap(({ id }) => id ?? []));
  const nameless: string[] = [];
  const ids = nodes.map(({ name, id }) => {
    if (id !== null) return id;
    const said = idOfName(name);
    if (said === null || taken.has(said)) {
      nameless.push(name);
      return null;
    }
    taken.add(said);
    return said;
  });
  const switches: Record<string, DrawnSwitch> = {};
  for (const [index, { name }] of nodes.entries()) {
    const id = ids[index] ?? null;
    // Two nodes may have one id: a chassis drawn as several boxes. The first names it.
    if (id === null || switches[id] !== undefined) continue;
    switches[id] = { ports: {}, links: [], ...(!NUMBER.test(name) && { name }) };
  }
  for (const { source, target, sourcePort, targetPort } of links) {
    const [a, b] = [ids[source] ?? null, ids[target] ?? null];
    if (a === null || b === null) continue;
    const end = (id: number, port: number | null): string => (port === null ? String(id) : `${id}:${port}`);
    if (sourcePort === null && targetPort === null) switches[a]!.links.push(String(b));
    if (sourcePort !== null) switches[a]!.ports[sourcePort] = { to: end(b, targetPort) };
    if (targetPort !== null) switches[b]!.ports[targetPort] = { to: end(a, sourcePort) };
  }
  return { spec: { switches }, nodes: nodes.length, nameless };
}

/** @throws GpintError if it is no GraphML */
export function graphmlSpec(text: string): NetworkFile {
  return specOf(parseGraphmlNetwork(text));
}

/** Switches and links of a plan: consecutive switches of a path are linked. */
export function planSpec(paths: readonly (readonly string[])[]): NetworkFile {
  const numbers = new Map<string, number>();
  const numberOf = (name: string): number => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  };
  const seen = new Set<string>();
  const links: Drawn['links'][number][] = [];
  for (const path of paths) {
    let before: number | null = null;
    for (const name of path) {
      const node = numberOf(name);
      if (before !== null && before !== node) {
        const [source, target] = before < node ? [before, node] : [node, before];
        if (!seen.has(`${source}-${target}`)) links.push({ source, target, sourcePort: null, targetPort: null });
        seen.add(`${source}-${target}`);
      }
      before = node;
    }
  }
  return specOf({ nodes: [...numbers.keys()].map((name) => ({ name, id: null })), links });
}
