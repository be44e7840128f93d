import type { Host, LinkEnd, Prefix } from '@int/network';
import type { NetworkModel } from './network-model.js';

/** One direction of a link between switches. */
export interface Edge {
  readonly from: number;
  /** Port of `from`. */
  readonly port: number;
  readonly to: number;
  /** Port of `to`; `null`: nobody knows it. */
  readonly toPort: number | null;
}

/** A place where a host, or a group of hosts, is attached. */
export interface Attachment {
  readonly switchId: number;
  readonly port: number;
}

const linkName = (switchId: number, port: number): string => `${switchId}:${port}`;

/**
 * The switches that can be programmed, and the links between them that carry packets. A link that one end names exists in
 * both directions if the port of the other end is known.
 */
export class NetworkGraph {
  /** Ascending. */
  readonly switchIds: readonly number[];
  /** All hosts of the topology, by name in order. */
  readonly hosts: readonly Host[];
  readonly #edges = new Map<number, Edge[]>();
  readonly #known = new Map<number, Set<number>>();
  readonly #hostPorts = new Map<number, { readonly port: number; readonly host: string }[]>();
  readonly #attachments = new Map<string, Attachment[]>();

  constructor({ topology, switches, failedLinks }: NetworkModel) {
    this.switchIds = [...switches.keys()].sort((a, b) => a - b);
    this.hosts = [...topology.hosts.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    const all = new Map<string, Edge>();
    const add = (edge: Edge): void => {
      const key = linkName(edge.from, edge.port);
      const known = all.get(key);
      if (known === undefined || (known.to === edge.to && known.toPort === null)) all.set(key, edge);
    };
    for (const id of this.switchIds) {
      for (const { number, to } of topology.switches.get(id)?.ports.values() ?? []) {
        if (to?.kind === 'host') this.#attach(id, number, to.host, failedLinks);
        else if (to !== null && switches.has(to.switchId))
          add({ from: id, port: number, to: to.switchId, toPort: to.port });
      }
    }
    // The other direction, where only one end tells of the link.
    for (const { from, port, to, toPort } of [...all.values()]) {
      const end: LinkEnd | null = toPort === null ? null : topology.peer(to, toPort);
      if (toPort !== null && (end === null || (end.kind === 'switch' && end.switchId === from))) {
        add({ from: to, port: toPort, to: from, toPort: port });
      }
    }
    const failed = (edge: Edge): boolean =>
      failedLinks.has(linkName(edge.from, edge.port)) ||
      (edge.toPort !== null && failedLinks.has(linkName(edge.to, edge.toPort)));
    for (const edge of all.values()) {
      const known = this.#known.get(edge.from) ?? new Set();
      this.#known.set(edge.from, known.add(edge.to));
      if (failed(edge)) continue;
      const edges = this.#edges.get(edge.from);
      if (edges === undefined) this.#edges.set(edge.from, [edge]);
      else edges.push(edge);
    }
    for (const edges of this.#edges.values()) edges.sort((a, b) => a.port - b.port);
    for (const ports of this.#hostPorts.values()) ports.sort((a, b) => a.port - b.port);
  }

  #attach(switchId: number, port: number, host: string, failedLinks: ReadonlySet<string>): void {
    const ports = this.#hostPorts.get(switchId) ?? [];
    this.#hostPorts.set(switchId, ports);
    ports.push({ port, host });
    if (failedLinks.has(linkName(switchId, port))) return;
    const attachments = this.#attachments.get(host) ?? [];
    this.#attachments.set(host, attachments);
    attachments.push({ switchId, port });
  }

  /** Links that leave a switch, without the failed ones, by port. */
  edges(switchId: number): readonly Edge[] {
    return this.#edges.get(switchId) ?? [];
  }

  /** The link of a port; `undefined`: it is no port to another switch, or it has failed. */
  edge(switchId: number, port: number): Edge | undefined {
    return this.edges(switchId).find((edge) => edge.port === port);
  }

  /** Links that work from a switch to another. */
  between(from: number, to: number): readonly Edge[] {
    return this.edges(from).filter((edge) => edge.to === to);
  }

  /** Whether the topology has a link between two switches, if it works or not. */
  areAdjacent(from: number, to: number): boolean {
    return this.#known.get(from)?.has(to) ?? false;
  }

  /** Ports to hosts, failed ones too. */
  hostPorts(switchId: number): readonly { readonly port: number; readonly host: string }[] {
    return this.#hostPorts.get(switchId) ?? [];
  }

  /** Prefixes of the hosts that are attached to a switch, each once, in an order that depends on the hosts alone. */
  prefixesAt(switchId: number): readonly Prefix[] {
    const names = new Set(this.hostPorts(switchId).map(({ host }) => host));
    const found = this.hosts.filter(({ name }) => names.has(name)).flatMap(({ prefixes }) => prefixes);
    return [...new Map(found.map((prefix) => [`${prefix.bytes.join('.')}/${prefix.length}`, prefix])).values()];
  }

  /** Where a host is attached and its link works. */
  attachments(host: string): readonly Attachment[] {
    return this.#attachments.get(host) ?? [];
  }

  /** Switches with ports to hosts, ascending. */
  get edgeSwitches(): readonly number[] {
    return this.switchIds.filter((id) => this.hostPorts(id).length > 0);
  }
}
