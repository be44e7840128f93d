import { type Aggregate, type Clustered, type FlowSet, type SmallFlow, TrafficClusters } from '@int/knowledge';
import type { Prefix, Topology } from '@int/network';
import { spaceOf } from '../intents/flow-space.js';
import type { PathIntent } from '../intents/intent.js';
import type { ObservedFlow } from '../twin/rehearsal.js';
import { addressBytes } from './link-map.js';
import { type Site, siteOf, sitesOf } from './sites.js';

/** A flow of an aggregate. */
export interface ClusteredFlow extends SmallFlow {
  readonly flow: ObservedFlow;
  /** The smallest capacity on its path. */
  readonly leastBps: number;
}

export type FlowAggregate = Aggregate<ClusteredFlow>;

const MOST_ADDRESSES = 65_536;
/** An aggregate is no larger than the smallest flow that is moved alone. */
const MOST_SHARE = 0.1;

/** Clusters small flows by where the topology says that they enter and leave the network. */
export class SmallFlows {
  readonly #clusters = new TrafficClusters();
  readonly #sites: readonly Site[];
  readonly #addresses = new Map<string, { readonly bytes: Uint8Array; readonly site: Site | null } | null>();

  constructor(topology: Topology) {
    this.#sites = sitesOf(topology);
  }

  /** @param placed intents whose flows are in no aggregate */
  cluster(
    flows: readonly Pick<ClusteredFlow, 'flow' | 'bps' | 'leastBps'>[],
    timeMs: number,
    placed: readonly PathIntent[],
  ): Clustered<ClusteredFlow> {
    const small = flows.map(({ flow, bps, leastBps }): ClusteredFlow => {
      const [source, destination] = [this.#address(flow.source), this.#address(flow.destination)];
      const isKnown =
        source?.site?.switchId === flow.path[0] &&
        destination?.site?.switchId === flow.path.at(-1) &&
        source?.bytes.length === destination?.bytes.length;
      const within = isKnown ? { source: source!.site!.prefix, destination: destination!.site!.prefix } : null;
      const bytes = { source: source?.bytes ?? NONE, destination: destination?.bytes ?? NONE };
      const mostBps = MOST_SHARE * leastBps;
      return { flow, bps, leastBps, mostBps, ...bytes, sourcePort: flow.sourcePort, within };
    });
    return this.#clusters.update(small, timeMs, placed.flatMap(setsOf));
  }

  #address(text: string): { readonly bytes: Uint8Array; readonly site: Site | null } | null {
    let known = this.#addresses.get(text);
    if (known === undefined) {
      const bytes = addressBytes(text);
      known = bytes === null ? null : { bytes, site: siteOf(this.#sites, bytes) };
      if (this.#addresses.size >= MOST_ADDRESSES) this.#addresses.clear();
      this.#addresses.set(text, known);
    }
    return known;
  }
}

const NONE = new Uint8Array(0);

/** Flows of an intent, of each version of IP that it means. */
function setsOf({ match }: PathIntent): readonly FlowSet[] {
  const space = spaceOf(match);
  if (space === null) return [];
  const sizes = space.family === null ? [4, 16] : [space.family === 4 ? 4 : 16];
  return sizes.map((size) => {
    const all: Pick<Prefix, 'bytes' | 'length'> = { bytes: new Uint8Array(size), length: 0 };
    const { source, destination, sourcePort: sourcePorts } = space;
    return { source: source ?? all, destination: destination ?? all, sourcePorts };
  });
}
