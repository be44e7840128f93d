/** A network of int.p4 with random intents: the compiler says what is wanted, real machines carry the packets. */
import { compile, type DesiredState, type FlowMatch, type Intent } from '@int/control';
import { nextSwitches } from '@int/control/internals';
import { udpFrame } from '@int/netsim';
import { Topology } from '@int/network';
import { type Entity, match } from '@int/p4runtime';
import { LocalSwitch } from '@int/p4runtime/internals';
import type { Random } from '@int/random';
import { addressOf, intProgram, numberOf, topologyOf } from '../compile/fabric.js';
import { type FakeSwitch, type SwitchSetting, textOf } from './fake-switch.js';
import type { ModelNetwork } from './model-network.js';

const HOSTS = 3;
const MOST_INTENTS = 5;
const FORWARDING = /^IntIngress\.(steer|forward)_ipv4|^IntIngress\.next_hops/;

interface Flow {
  readonly name: string;
  readonly frame: Uint8Array;
}

export class CompiledNetwork implements ModelNetwork {
  readonly ids: readonly number[];
  readonly #random: Random;
  readonly #topology: Topology;
  readonly #links: (readonly [number, number])[];
  readonly #hosts: readonly number[];
  readonly #flows: readonly Flow[];
  #intents: Intent[] = [];
  #failed = new Set<string>();
  #count = 0;
  /** By switch: where its packets go next, with the version of its tables. */
  readonly #nexts = new Map<number, { readonly version: number; readonly by: readonly (number | undefined)[] }>();

  constructor(random: Random) {
    this.#random = random;
    const size = 4 + random.integer(3);
    this.ids = Array.from({ length: size }, (_, index) => index + 1);
    const any = (): number => 1 + random.integer(size);
    this.#links = this.ids.slice(1).map((id) => [1 + random.integer(id - 1), id] as const);
    for (let extra = 0; extra < size; extra++) {
      const [one, other] = [any(), any()];
      if (one !== other) this.#links.push([one, other]);
    }
    this.#hosts = Array.from({ length: HOSTS }, any);
    this.#topology = new Topology(topologyOf(this.ids, this.#links, this.#hosts));
    this.#flows = this.#hosts.flatMap((_, from) =>
      this.#hosts.flatMap((__, to) =>
        from === to
          ? []
          : [1, 3].map((sourcePort) => ({
              name: `h${from} port ${sourcePort} to h${to}`,
              frame: udpFrame(
                {
                  source: numberOf(addressOf(from)),
                  destination: numberOf(addressOf(to)),
                  sourcePort,
                  destinationPort: 2,
                },
                new Uint8Array(16),
              ),
            })),
      ),
    );
  }

  setting(): SwitchSetting {
    const local = intProgram();
    return { p4info: local.p4info, rooms: {}, machine: () => new LocalSwitch(local) };
  }

  change(): DesiredState {
    const random = this.#random;
    if (random.integer(4) === 0) {
      const port = this.#portOf(random.integer(this.#links.length));
      if (!this.#failed.delete(port) && random.integer(2) === 0) this.#failed.add(port);
    } else {
      if (this.#intents.length > 0 && random.integer(2) === 0) {
        this.#intents.splice(random.integer(this.#intents.length), 1);
      }
      if (this.#intents.length < MOST_INTENTS && random.integer(3) > 0) this.#intents.push(this.#intent());
    }
    const { p4info } = intProgram();
    const switches = this.ids.map((id) => [id, { id, program: 'int', p4info, isUp: true }] as const);
    const network = {
      topology: this.#topology,
      switches: new Map(switches),
      failedLinks: this.#failed,
      collector: null,
    };
    return compile(network, this.#intents, 1, { routes: random.integer(30) === 0 ? 'external' : 'managed' }).desired;
  }

  foreign(): Entity {
    const number = this.#random.integer(3);
    return [
      {
        kind: 'table-entry' as const,
        table: 'IntIngress.forward_ipv4',
        match: { destination_address: match.lpm((20n << 24n) | (BigInt(number) << 16n), 16) },
        action: { action: 'IntIngress.forward', params: { port: 1n } },
        priority: 0,
      },
      {
        kind: 'table-entry' as const,
        table: 'IntIngress.steer_ipv4',
        match: { source_address: match.ternary(99n, 0xffff_ffffn) },
        action: { action: 'IntIngress.forward', params: { port: 1n } },
        priority: 1,
        metadata: new Uint8Array([1, 2, 3]),
      },
      {
        kind: 'clone-session' as const,
        id: 7 + number,
        replicas: [{ port: 1, instance: 0 }],
        classOfService: 0,
        packetLengthBytes: 0,
      },
    ][this.#random.integer(3)]!;
  }

  isInTheWay(): boolean {
    return false;
  }

  isForwarding(entity: Entity): boolean {
    return (
      entity.kind === 'member' ||
      entity.kind === 'group' ||
      (entity.kind === 'table-entry' && FORWARDING.test(entity.table))
    );
  }

  leadsTo(switchId: number, entity: Entity, contents: readonly Entity[]): readonly number[] {
    return nextSwitches(this.#topology, switchId, entity, contents);
  }

  get text(): string {
    return `${textOf(this.#intents)} failed ${[...this.#failed]} ${textOf(this.#links)} hosts at ${this.#hosts}`;
  }

  circles(switches: readonly FakeSwitch[]): Map<string, readonly number[]> {
    const circles = new Map<string, readonly number[]>();
    const nexts = switches.map((each) => this.#nextsOf(each));
    for (const [index, { name }] of this.#flows.entries()) {
      const done = new Set<number>();
      for (const start of this.ids) {
        const passed: number[] = [];
        for (let at: number | undefined = start; at !== undefined && !done.has(at); at = nexts[at - 1]![index]) {
          const since = passed.indexOf(at);
          if (since !== -1) {
            circles.set(name, passed.slice(since));
            break;
          }
          passed.push(at);
        }
        for (const id of passed) done.add(id);
      }
    }
    return circles;
  }

  /** By flow: the switch to which this one sends its packets. */
  #nextsOf({ id, version, machine }: FakeSwitch): readonly (number | undefined)[] {
    const known = this.#nexts.get(id);
    if (known?.version === version) return known.by;
    const by = this.#flows.map(({ frame }) => {
      for (const { port } of machine!.machine.process(1, frame)) {
        const to = this.#topology.peer(id, port);
        if (to?.kind === 'switch') return to.switchId;
      }
      return undefined;
    });
    this.#nexts.set(id, { version, by });
    return by;
  }

  /** A link as its first end names it. */
  #portOf(index: number): string {
    const [a, b] = this.#links[index]!;
    const ports = [...this.#topology.switches.get(a)!.ports.values()].filter(
      ({ to }) => to?.kind === 'switch' && to.switchId === b,
    );
    return `${a}:${ports[this.#random.integer(ports.length)]!.number}`;
  }

  #intent(): Intent {
    const random = this.#random;
    const terms = {
      id: `i${this.#count++ % 8}`,
      owner: 'test',
      priority: 1 + random.integer(6),
      fromMs: 0,
      ttlMs: null,
      reason: '',
    };
    const side = (): string => `${addressOf(random.integer(HOSTS))}/${[16, 24, 32][random.integer(3)]}`;
    const flows: FlowMatch = {
      ...(random.integer(2) === 0 && { source: side() }),
      ...(random.integer(2) === 0 && { destination: side() }),
      ...(random.integer(3) === 0 && { sourcePort: [1, 1 + random.integer(4)] as const }),
    };
    switch (random.integer(8)) {
      case 0: {
        const [switchId, port] = this.#portOf(random.integer(this.#links.length)).split(':').map(Number);
        return { ...terms, kind: 'avoid', link: { switchId: switchId!, port: port! } };
      }
      case 1:
        return { ...terms, kind: 'block', match: { ...flows, source: side() }, reportOneIn: 0 };
      case 2:
        return { ...terms, kind: 'limit', match: { ...flows, source: side() }, bitsPerSecond: 1_000_000 };
      case 3:
        return { ...terms, kind: 'watch', match: flows, instructions: 0xf000, oneIn: 1 };
      default: {
        const via = [this.#hosts[random.integer(HOSTS)]!];
        for (let length = random.integer(4); length > 0; length--) {
          const at = via.at(-1)!;
          const next = this.#links.flatMap(([a, b]) => (a === at ? [b] : b === at ? [a] : []));
          const free = next.filter((id) => !via.includes(id));
          if (free.length === 0) break;
          via.push(free[random.integer(free.length)]!);
        }
        return { ...terms, kind: 'path', match: flows, via };
      }
    }
  }
}
