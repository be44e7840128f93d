import { parseAddress } from '@int/codec';
import type { Topology } from '@int/network';
import type { ObservedFlow } from '../twin/rehearsal.js';

/** A link in one direction, as loads name it: `<switch id>:<port>`. */
export type LinkKey = string;

const MOST_PATHS = 8;
/** Paths may be longer than the shortest by so many switches. */
const DETOUR = 2;

/** Links of a topology by their ends, and paths over them. */
export class LinkMap {
  /** Bits a second by link; those whose speed nobody said are missing. */
  readonly capacities: ReadonlyMap<LinkKey, number>;
  readonly #topology: Topology;
  /** By switch: its neighbours, and the port to each. Of parallel links the one with the smallest port. */
  readonly #next: ReadonlyMap<number, ReadonlyMap<number, number>>;
  readonly #paths = new Map<string, readonly (readonly number[])[]>();

  constructor(topology: Topology) {
    this.#topology = topology;
    const next = new Map<number, Map<number, number>>();
    const capacities = new Map<LinkKey, number>();
    const join = (from: number, port: number, to: number, speedBps: number | null): void => {
      const ports = next.get(from) ?? new Map<number, number>();
      next.set(from, ports.set(to, Math.min(port, ports.get(to) ?? port)));
      if (speedBps !== null) capacities.set(`${from}:${port}`, speedBps);
    };
    for (const { id, ports } of topology.switches.values()) {
      for (const { number, to, speedBps } of ports.values()) {
        if (to?.kind === 'host' && speedBps !== null) capacities.set(`${id}:${number}`, speedBps);
        if (to?.kind !== 'switch') continue;
        join(id, number, to.switchId, speedBps);
        // A link that one end names is there for both.
        const back = to.port === null ? undefined : topology.switches.get(to.switchId)?.ports.get(to.port);
        if (to.port !== null && (back === undefined || back.to === null)) join(to.switchId, to.port, id, speedBps);
      }
    }
    this.#next = next;
    this.capacities = capacities;
  }

  /** A switch, for people. */
  switchText(id: number): string {
    return this.#topology.switchText(id);
  }

  /** A link, for people: the switch by its name, and the port. */
  linkText(link: LinkKey): string {
    const [switchId, port] = link.split(':');
    return `${this.switchText(Number(switchId))}:${port}`;
  }

  /** The link from a switch to its neighbour; `null`: there is none. */
  link(from: number, to: number): LinkKey | null {
    const port = this.#next.get(from)?.get(to);
    return port === undefined ? null : `${from}:${port}`;
  }

  /** Both ends of a link; one, if the other is a host or not known. */
  ends(switchId: number, port: number): readonly LinkKey[] {
    const peer = this.#topology.peer(switchId, port);
    if (peer?.kind === 'switch' && peer.port !== null) return [`${switchId}:${port}`, `${peer.switchId}:${peer.port}`];
    for (const [to, back] of this.#next.get(switchId) ?? []) {
      if (back === port) return [`${switchId}:${port}`, this.link(to, switchId)].filter((key) => key !== null);
    }
    return [`${switchId}:${port}`];
  }

  /** Links of a path of switches, and the last one to the host. Parts that the topology does not know are missing. */
  linksOf(path: readonly number[], destination: string | null = null): LinkKey[] {
    const links: LinkKey[] = [];
    for (let k = 0; k + 1 < path.length; k++) {
      const link = this.link(path[k]!, path[k + 1]!);
      if (link !== null) links.push(link);
    }
    const last = path.at(-1);
    const port = last === undefined || destination === null ? null : this.#hostPort(last, destination);
    if (port !== null) links.push(`${last}:${port}`);
    return links;
  }

  /** At most eight paths of switches, the shortest first, each at most two switches longer than the shortest. */
  paths(from: number, to: number): readonly (readonly number[])[] {
    const key = `${from}-${to}`;
    let found = this.#paths.get(key);
    if (found === undefined) {
      found = this.#search(from, to);
      this.#paths.set(key, found);
    }
    return found;
  }

  #search(from: number, to: number): readonly (readonly number[])[] {
    const found: number[][] = [];
    let level: number[][] = [[from]];
    let most = Number.POSITIVE_INFINITY;
    // By length, so the shortest come first; a level of a large network is cut off, for it grows without end.
    for (let length = 1; length <= most && level.length > 0 && found.length < MOST_PATHS; length++) {
      const longer: number[][] = [];
      for (const path of level) {
        const last = path.at(-1)!;
        if (last === to) {
          found.push(path);
          most = Math.min(most, length + DETOUR);
          continue;
        }
        for (const next of this.#next.get(last)?.keys() ?? []) {
          if (!path.includes(next) && longer.length < 4096) longer.push([...path, next]);
        }
      }
      level = longer;
    }
    return found.slice(0, MOST_PATHS);
  }

  #hostPort(switchId: number, destination: string): number | null {
    const bytes = addressBytes(destination);
    const host = bytes === null ? null : this.#topology.hostOf(bytes);
    if (host === null) return null;
    for (const { number, to } of this.#topology.switches.get(switchId)?.ports.values() ?? []) {
      if (to?.kind === 'host' && to.host === host.name) return number;
    }
    return null;
  }
}

/** 4 or 16 bytes; `null` for text that is no address. */
export function addressBytes(text: string): Uint8Array | null {
  try {
    const { words } = parseAddress(text);
    return Uint8Array.from({ length: 4 * words.length }, (_, k) => words[k >>> 2]! >>> (24 - 8 * (k & 3)));
  } catch {
    return null;
  }
}

/** Bits a second by link, of flows seen within a time. */
export function loadsOf(flows: readonly ObservedFlow[], seconds: number, links: LinkMap): Map<LinkKey, number> {
  const loads = new Map<LinkKey, number>();
  for (const { path, destination, bytes } of flows) {
    const bps = (8 * bytes) / seconds;
    for (const link of links.linksOf(path, destination)) loads.set(link, (loads.get(link) ?? 0) + bps);
  }
  return loads;
}

/** The link with the highest share of its capacity. */
export function hottestOf(
  loads: ReadonlyMap<LinkKey, number>,
  { capacities }: LinkMap,
): { readonly link: LinkKey; readonly load: number } | null {
  let hottest: { link: LinkKey; load: number } | null = null;
  for (const [link, bps] of loads) {
    const capacity = capacities.get(link);
    const load = capacity === undefined ? Number.NEGATIVE_INFINITY : bps / capacity;
    if (load > (hottest?.load ?? Number.NEGATIVE_INFINITY)) hottest = { link, load };
  }
  return hottest;
}
