import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Change, DesiredEntity, DesiredState, ModelSwitch, NetworkModel, ObservedFlow } from '@int/control';
import { Topology, type TopologySpec } from '@int/network';
import { type Entity, type Pipeline, p4infoOf } from '@int/p4runtime';
import { entry } from '@int/p4runtime/internals';
import { loadProgram } from '@int/p4vm/node';
import type { Random } from '@int/random';

/** int.p4, as switches of the fabric run it. */
const PATH = fileURLToPath(new URL('../../../p4/int.p4', import.meta.url));
export const program = loadProgram(PATH);
export const p4info = p4infoOf(program);

/** A program with all that it includes, as one text. */
function textOf(path: string): string {
  return readFileSync(path, 'utf8').replace(/^#include "(.+)"$/gm, (_, name: string) =>
    textOf(join(dirname(path), name)),
  );
}

/** What a switch without a program is given. */
export const pipelineOf = (): Pipeline => ({ p4info, deviceConfig: new TextEncoder().encode(textOf(PATH)) });

export interface FabricHost {
  readonly name: string;
  readonly address: string;
  readonly leaf: number;
  readonly port: number;
}

/**
 * Leaf-spine fabric: leaves 1, 2, ..., spines 101, 102, ... Leaf ports 1, 2, ... lead to hosts, 40 to a collector, 51, 52, ... to
 * the spines.
 */
export class Fabric {
  readonly leaves: readonly number[];
  readonly spines: readonly number[];
  readonly hosts: readonly FabricHost[];
  readonly topology: Topology;

  constructor(
    leaves: number,
    spines: number,
    readonly hostsPerLeaf: number,
    speed = '1G',
  ) {
    this.leaves = Array.from({ length: leaves }, (_, i) => i + 1);
    this.spines = Array.from({ length: spines }, (_, i) => i + 101);
    this.hosts = this.leaves.flatMap((leaf) =>
      Array.from({ length: hostsPerLeaf }, (_, i) => ({
        name: `h${leaf}-${i + 1}`,
        address: `10.0.${leaf}.${i + 1}`,
        leaf,
        port: i + 1,
      })),
    );
    const spec: TopologySpec = {
      switches: Object.fromEntries([
        ...this.leaves.map((leaf) => [
          leaf,
          {
            name: `leaf-${leaf}`,
            ports: Object.fromEntries([
              ...this.hosts
                .filter((host) => host.leaf === leaf)
                .map(({ name, port }) => [port, { to: `host ${name}`, speed }]),
              [40, { to: `host c${leaf}`, speed }],
              ...this.spines.map((spine, i) => [51 + i, { to: `${spine}:${leaf}`, speed }]),
            ]),
          },
        ]),
        ...this.spines.map((spine, i) => [
          spine,
          {
            name: `spine-${spine - 100}`,
            ports: Object.fromEntries(this.leaves.map((leaf) => [leaf, { to: `${leaf}:${51 + i}`, speed }])),
          },
        ]),
      ]),
      hosts: Object.fromEntries([
        ...this.hosts.map(({ name, address }) => [name, { addresses: [address] }]),
        ...this.leaves.map((leaf) => [`c${leaf}`, { addresses: [`10.0.${leaf}.200`] }]),
      ]),
    };
    this.topology = new Topology(spec);
  }

  model(failedLinks: ReadonlySet<string> = new Set()): NetworkModel {
    const switches = [...this.leaves, ...this.spines].map((id): [number, ModelSwitch] => [
      id,
      { id, program: 'int', p4info, isUp: true },
    ]);
    return { topology: this.topology, switches: new Map(switches), failedLinks, collector: null };
  }

  /**
   * Routes of all switches: a leaf has one for each host, a spine one for each leaf.
   *
   * @param via index of the spine for a host, as seen from a leaf
   */
  routes(via: (leaf: number, host: FabricHost) => number): Map<number, DesiredEntity[]> {
    const state = new Map<number, DesiredEntity[]>();
    for (const leaf of this.leaves) {
      state.set(leaf, [
        desired(entry('IntEgress.node', {}, 'set_node', { id: leaf }, { isDefault: true })),
        ...this.hosts.map((host) =>
          desired(route(`${host.address}/32`, host.leaf === leaf ? host.port : 51 + via(leaf, host))),
        ),
      ]);
    }
    for (const spine of this.spines) {
      state.set(spine, [
        desired(entry('IntEgress.node', {}, 'set_node', { id: spine }, { isDefault: true })),
        ...this.leaves.map((leaf) => desired(route(`10.0.${leaf}.0/24`, leaf))),
      ]);
    }
    return state;
  }

  /** Routes by groups: a leaf spreads what goes to other leaves over all spines. */
  spreadRoutes(): Map<number, DesiredEntity[]> {
    const state = this.routes(() => 0);
    for (const leaf of this.leaves) {
      state.set(leaf, [
        ...state.get(leaf)!.filter(({ entity }) => !this.#isRemote(entity, leaf)),
        desired(entry('IntIngress.hash_seed', {}, 'set_hash_seed', { number: leaf }, { isDefault: true })),
        ...this.spines.map((_, i) =>
          desired({
            kind: 'member',
            profile: 'IntIngress.members',
            id: 2000 + i,
            action: { action: 'IntIngress.forward', params: { port: 51 + i } },
          }),
        ),
        desired({
          kind: 'group',
          profile: 'IntIngress.members',
          id: 2000,
          members: this.spines.map((_, i) => ({ id: 2000 + i, weight: 1 })),
        }),
        desired(entry('IntIngress.next_hops', { group: 1 }, { group: 2000 })),
        ...this.leaves
          .filter((other) => other !== leaf)
          .map((other) =>
            desired(
              entry('IntIngress.forward_ipv4', { destination_address: `10.0.${other}.0/24` }, 'IntIngress.spread', {
                group: 1,
              }),
            ),
          ),
      ]);
    }
    return state;
  }

  /** INT sinks at all hosts, whose reports go to a collector at port 40 of their own leaf. */
  sinks(): Map<number, DesiredEntity[]> {
    return new Map(
      this.leaves.map((leaf) => [
        leaf,
        [
          ...this.hosts
            .filter((host) => host.leaf === leaf)
            .map(({ port }) =>
              desired(
                entry('IntEgress.port', { egress_port: port }, 'set_port', {
                  is_sink: 1,
                  mtu: 9000,
                  congested_above: 64,
                  complements: 0,
                  level2_egress: 0xffffffff,
                }),
              ),
            ),
          desired({ kind: 'clone-session', id: 2000, replicas: [{ port: 40 }] }),
          desired(entry('IntEgress.reports', {}, 'set_session', { session: 2000 }, { isDefault: true })),
          desired(
            entry('IntReport.collector', { egress_port: 40 }, 'send', {
              index: 0,
              source_mac: 1,
              destination_mac: 2,
              source_address: `10.0.${leaf}.254`,
              destination_address: `10.0.${leaf}.200`,
              source_port: 50_000,
              destination_port: 32_766,
              hardware_id: 1,
              most: 200,
            }),
          ),
        ],
      ]),
    );
  }

  #isRemote(entity: Entity, leaf: number): boolean {
    if (entity.kind !== 'table-entry' || entity.table !== 'IntIngress.forward_ipv4') return false;
    return !String(entity.match.destination_address).startsWith(`10.0.${leaf}.`);
  }

  /** Flows between random hosts of different leaves. */
  flows(
    random: Random,
    count: number,
    via: (leaf: number, host: FabricHost) => number,
    { packets = (): number => 100 + random.integer(900), bytes = (): number => 100 + random.integer(1300) } = {},
  ): ObservedFlow[] {
    return Array.from({ length: count }, (_, i): ObservedFlow => {
      const from = this.hosts[random.integer(this.hosts.length)]!;
      const others = this.hosts.filter(({ leaf }) => leaf !== from.leaf);
      const to = others[random.integer(others.length)]!;
      const count = packets();
      return {
        source: from.address,
        destination: to.address,
        protocol: 17,
        sourcePort: 10_000 + i,
        destinationPort: 80,
        packets: count,
        bytes: count * bytes(),
        path: [from.leaf, this.spines[via(from.leaf, to)]!, to.leaf],
      };
    });
  }
}

export function route(prefix: string, port: number): Entity {
  return entry('IntIngress.forward_ipv4', { destination_address: prefix }, 'IntIngress.forward', { port });
}

export function desired(entity: Entity, intents: readonly string[] = []): DesiredEntity {
  return { entity, intents, stage: 0 };
}

/** The change of a route, which must be there. */
export function reroute(state: DesiredState, switchId: number, prefix: string, port: number): Change {
  const before = state
    .get(switchId)
    ?.find(({ entity }) => entity.kind === 'table-entry' && entity.match.destination_address === prefix)?.entity;
  if (before === undefined) throw new Error(`switch ${switchId} has no route to ${prefix}`);
  return { switchId, type: 'modify', before, after: route(prefix, port), intents: [] };
}

/** Several states as one. */
export function joined(...states: readonly ReadonlyMap<number, readonly DesiredEntity[]>[]): DesiredState {
  const ids = new Set(states.flatMap((state) => [...state.keys()]));
  return new Map([...ids].map((id) => [id, states.flatMap((state) => state.get(id) ?? [])]));
}
