import { isInPrefix, type Prefix, prefixOf, type Topology } from '@int/network';

/** Addresses that are attached to one switch alone. */
export interface Site {
  readonly switchId: number;
  readonly prefix: Prefix;
}

interface Attached {
  readonly prefix: Prefix;
  /** `null`: to several switches, or to none. */
  readonly switchId: number | null;
}

/**
 * The widest prefixes whose hosts are all attached to one switch: what a match of them means enters, or leaves, the network there.
 * Where a prefix lies within one of another switch it is not widened, for the addresses around it are that one's.
 */
export function sitesOf(topology: Topology): readonly Site[] {
  const attached = attachedPrefixes(topology);
  return [4, 16].flatMap((size) =>
    divide(
      attached.filter(({ prefix }) => prefix.bytes.length === size),
      0,
      false,
    ),
  );
}

export function siteOf(sites: readonly Site[], address: Uint8Array): Site | null {
  return sites.find(({ prefix }) => isInPrefix(prefix, address, 0, address.length)) ?? null;
}

function attachedPrefixes(topology: Topology): readonly Attached[] {
  const switches = new Map<string, Set<number>>();
  for (const { id, ports } of topology.switches.values()) {
    for (const { to } of ports.values()) {
      if (to?.kind === 'host') switches.set(to.host, (switches.get(to.host) ?? new Set()).add(id));
    }
  }
  return [...topology.hosts.values()].flatMap(({ name, prefixes }) => {
    const [switchId = null, ...others] = switches.get(name) ?? [];
    return prefixes.map((prefix): Attached => ({ prefix, switchId: others.length > 0 ? null : switchId }));
  });
}

/** @param all prefixes with the same first bits @param isWithin they lie within a prefix of another switch */
function divide(all: readonly Attached[], bits: number, isWithin: boolean): readonly Site[] {
  const [first] = all;
  if (first === undefined) return [];
  const { switchId } = first;
  if (switchId !== null && all.every((each) => each.switchId === switchId)) {
    if (!isWithin) return [{ switchId, prefix: common(all) }];
    return all
      .filter(({ prefix }) => !all.some((other) => other.prefix.length < prefix.length && holds(other.prefix, prefix)))
      .map(({ prefix }) => ({ switchId, prefix }));
  }
  const longer = all.filter(({ prefix }) => prefix.length > bits);
  const isOne = (prefix: Prefix): boolean => ((prefix.bytes[bits >>> 3]! >>> (7 - (bits & 7))) & 1) === 1;
  const isInside = isWithin || longer.length < all.length;
  return [true, false].flatMap((one) =>
    divide(
      longer.filter(({ prefix }) => isOne(prefix) === one),
      bits + 1,
      isInside,
    ),
  );
}

const holds = (outer: Prefix, inner: Prefix): boolean => isInPrefix(outer, inner.bytes, 0, inner.bytes.length);

/** The longest prefix that holds all. */
function common(all: readonly Attached[]): Prefix {
  const prefixes = all.map(({ prefix }) => prefix);
  let widest = prefixes.reduce((least, each) => (each.length < least.length ? each : least));
  while (!prefixes.every((each) => holds(widest, each))) {
    widest = prefixOf(`${widest.text.split('/')[0]}/${widest.length - 1}`)!;
  }
  return widest;
}
