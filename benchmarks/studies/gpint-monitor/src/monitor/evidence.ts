/** What a monitor can say of links after several sessions: a probe lost once is no dead link. */
import type { Graph, MonitorEvent } from '@int/gpint';

/** What the monitor says of a link. */
export type LinkVerdict =
  /** Each time it was tried, the probe was missed: nothing has ever been seen to cross it. */
  | 'unavailable'
  /** A probe was missed, and another one crossed it. */
  | 'lossy'
  /** All that was missed was late, or its feedback was. */
  | 'congested';

interface Evidence {
  missed: number;
  late: number;
  crossed: number;
}

/** Gathers the events of a monitor. Sums over sessions; a link that comes back to life is lossy by that. */
export class LinkEvidence {
  readonly #graph: Graph;
  readonly #links: Map<number, Evidence> = new Map();
  /** In how many sessions a switch was given up, and which ones have ever sent measurements. */
  readonly #silent: Map<number, number> = new Map();
  readonly #heard: Set<number> = new Set();
  /** Switches that probes pass before they measure, with the first that does; by request id, of the session that runs. */
  readonly #prefixes: Map<number, readonly number[]> = new Map();
  /** Status of the links of the session that runs. */
  #session: Map<number, 'unavailable' | 'congested'> = new Map();

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  observe(event: MonitorEvent): void {
    switch (event.kind) {
      case 'link':
        this.#session.set(this.#graph.linkBetween(event.from, event.to), event.status);
        break;
      case 'sent':
        if (event.prefix.length > 0) this.#prefixes.set(event.requestId, event.prefix);
        break;
      case 'home':
      case 'notice':
        for (const node of event.nodes) this.#heard.add(node);
        if (event.nodes.length > 0) this.#crossed([...(this.#prefixes.get(event.requestId) ?? []), ...event.nodes]);
        break;
      case 'switch':
        this.#silent.set(event.node, (this.#silent.get(event.node) ?? 0) + 1);
        break;
      case 'end':
        this.#prefixes.clear();
        for (const [link, status] of this.#session) {
          const evidence = this.#of(link);
          if (status === 'unavailable') evidence.missed++;
          else evidence.late++;
        }
        this.#session = new Map();
        break;
    }
  }

  /** By number of the link; only those of which something was missed. */
  verdicts(): Map<number, LinkVerdict> {
    const verdicts = new Map<number, LinkVerdict>();
    for (const link of [...this.#links.keys()].sort((a, b) => a - b)) {
      const { missed, late, crossed } = this.#links.get(link)!;
      if (missed > 0) verdicts.set(link, crossed > 0 ? 'lossy' : 'unavailable');
      else if (late > 0) verdicts.set(link, 'congested');
    }
    return verdicts;
  }

  /** Links and switches to plan around: those missed in two sessions at least, and never heard of since the start. */
  suspects(): { readonly links: readonly number[]; readonly nodes: readonly number[] } {
    const links = [...this.#links].filter(([, { missed, crossed }]) => missed > 1 && crossed === 0);
    const nodes = [...this.#silent].filter(([node, sessions]) => sessions > 1 && !this.#heard.has(node));
    return { links: links.map(([link]) => link), nodes: nodes.map(([node]) => node) };
  }

  /** Measurements of two switches in a row: the probe went over the link between them. */
  #crossed(nodes: readonly number[]): void {
    for (let i = 1; i < nodes.length; i++) this.#of(this.#graph.linkBetween(nodes[i - 1]!, nodes[i]!)).crossed++;
  }

  #of(link: number): Evidence {
    let evidence = this.#links.get(link);
    if (evidence === undefined) {
      evidence = { missed: 0, late: 0, crossed: 0 };
      this.#links.set(link, evidence);
    }
    return evidence;
  }
}
