/** A network with routes and paths, made without the compiler: desired states whose packets never circle, and a walk over tables. */
import type { DesiredEntity, DesiredState } from '@int/control';
import { ownMetadata } from '@int/control/internals';
import { type Entity, match, type TableEntry } from '@int/p4runtime';
import type { Random } from '@int/random';
import { P4INFO } from '../switch.js';
import { type FakeSwitch, type SwitchSetting, textOf } from './fake-switch.js';
import type { ModelNetwork } from './model-network.js';

/** Packets to a host come with one of these sources: the first has no path of its own. */
const SOURCES: readonly bigint[] = [0n, 1n, 2n, 3n, 4n];
const HOST_PORT = 200n;

interface PathSpec {
  readonly name: string;
  readonly source: bigint;
  readonly host: number;
  readonly priority: number;
  /** Ids of switches, to that of the host. */
  readonly via: readonly number[];
}

const prefixOf = (host: number): bigint => (10n << 24n) | (BigInt(host) << 16n);

export class RoutedNetwork implements ModelNetwork {
  readonly ids: readonly number[];
  /** Where hosts are, by their number. */
  readonly hosts: readonly number[];
  readonly #links: readonly (readonly [number, number])[];
  readonly #entities = new Map<string, DesiredEntity>();
  #paths: PathSpec[] = [];

  constructor(
    readonly random: Random,
    switches: number,
    hosts: number,
  ) {
    this.ids = Array.from({ length: switches }, (_, index) => index + 1);
    const links: [number, number][] = [];
    for (let id = 2; id <= switches; id++) links.push([1 + random.integer(id - 1), id]);
    for (let extra = 0; extra < switches; extra++) {
      const one = this.#any();
      const other = this.#any();
      if (one !== other && !links.some(([a, b]) => (a === one && b === other) || (a === other && b === one))) {
        links.push([one, other]);
      }
    }
    this.#links = links;
    this.hosts = Array.from({ length: hosts }, () => this.#any());
  }

  #any(): number {
    return this.ids[this.random.integer(this.ids.length)]!;
  }

  setting(): SwitchSetting {
    return { p4info: P4INFO, rooms: { 'I.paths': 6 + this.random.integer(3) } };
  }

  /** Something else is wanted. */
  change(): DesiredState {
    if (this.random.integer(3) > 0) {
      const name = `p${1 + this.random.integer(4)}`;
      this.#paths = this.#paths.filter((each) => each.name !== name);
      if (this.random.integer(3) > 0) this.#paths.push(this.#pathOf(name));
    }
    return this.#wanted(this.#paths);
  }

  foreign(): Entity {
    const number = this.random.integer(3);
    return [
      {
        kind: 'table-entry' as const,
        table: 'I.routes',
        match: { destination: match.lpm((20n << 24n) | (BigInt(number) << 16n), 16) },
        action: { action: 'I.send', params: { port: 1n } },
        priority: 0,
      },
      {
        kind: 'table-entry' as const,
        table: 'I.paths',
        match: { source: match.ternary(99n, 0xffff_ffffn) },
        action: { action: 'NoAction', params: {} },
        priority: 1,
        metadata: new Uint8Array([1, 2, 3]),
      },
      // In the place of what this controller may want.
      {
        kind: 'table-entry' as const,
        table: 'I.access',
        match: { source: match.ternary(BigInt(number), 0xffff_ffffn) },
        action: { action: 'NoAction', params: {} },
        priority: 1,
      },
      {
        kind: 'clone-session' as const,
        id: 7 + number,
        replicas: [{ port: 1, instance: 0 }],
        classOfService: 0,
        packetLengthBytes: 0,
      },
    ][this.random.integer(4)]!;
  }

  isInTheWay(key: string): boolean {
    return key.startsWith('I.access');
  }

  isForwarding(entity: Entity): boolean {
    return entity.kind === 'table-entry' && (entity.table === 'I.paths' || entity.table === 'I.routes');
  }

  /** Ports are the ids of the switches behind them. */
  leadsTo(_: number, entity: Entity): readonly number[] {
    const action = entity.kind === 'table-entry' ? entity.action : undefined;
    const port = action !== undefined && 'params' in action ? action.params.port : undefined;
    return port === undefined || Number(port) >= HOST_PORT ? [] : [Number(port)];
  }

  get text(): string {
    return textOf(this.#paths);
  }

  /** A state that is wanted: a tree of routes to each host, by random weights; paths; a block; a group; a session. */
  #wanted(paths: readonly PathSpec[]): DesiredState {
    const desired = new Map<number, DesiredEntity[]>(this.ids.map((id) => [id, []]));
    for (const host of this.hosts.keys()) {
      // A host is away for a while now and then.
      if (this.random.integer(20) === 0) continue;
      for (const [id, { next, depth }] of this.#tree(this.hosts[host]!)) {
        desired.get(id)!.push(this.#route(host, next, 100 + depth));
      }
    }
    for (const path of paths) {
      for (const [index, id] of path.via.entries()) {
        const next = path.via[index + 1];
        const port = next === undefined ? HOST_PORT : BigInt(next);
        desired.get(id)!.push(this.#path(path, port, path.via.length - index));
      }
    }
    for (const id of this.ids) {
      if (this.random.integer(4) === 0) desired.get(id)!.push(this.#block(this.random.integer(3)));
      if (this.random.integer(3) === 0) desired.get(id)!.push(...this.#group(1 + this.random.integer(3)));
    }
    return desired;
  }

  /** A path along random links to a random host. */
  #pathOf(name: string): PathSpec {
    const host = this.random.integer(this.hosts.length);
    const via: number[] = [this.hosts[host]!];
    for (let length = 1 + this.random.integer(4); length > 0; length--) {
      const choices = this.#neighbours(via[0]!).filter((id) => !via.includes(id));
      if (choices.length === 0) break;
      via.unshift(choices[this.random.integer(choices.length)]!);
    }
    const number = Number(name.slice(1));
    return { name, source: SOURCES[number]!, host, priority: 10 * number + this.random.integer(2), via };
  }

  circles(switches: readonly FakeSwitch[]): Map<string, readonly number[]> {
    const circles = new Map<string, readonly number[]>();
    const contents = new Map(this.ids.map((id) => [id, sorted(switches[id - 1]!.tables.values())]));
    for (const host of this.hosts.keys()) {
      for (const source of SOURCES) {
        const done = new Set<number>();
        for (const start of this.ids) {
          const passed: number[] = [];
          for (let at: number | undefined = start; at !== undefined && !done.has(at); ) {
            if (passed.includes(at)) {
              circles.set(`${source} to ${host}`, passed.slice(passed.indexOf(at)));
              break;
            }
            passed.push(at);
            const port = nextOf(contents.get(at)!, source, prefixOf(host) | 7n);
            at = port === undefined || port >= HOST_PORT ? undefined : Number(port);
          }
          for (const id of passed) done.add(id);
        }
      }
    }
    return circles;
  }

  #neighbours(id: number): number[] {
    return this.#links.flatMap(([one, other]) => (one === id ? [other] : other === id ? [one] : []));
  }

  #tree(root: number): Map<number, { readonly next: bigint; readonly depth: number }> {
    const tree = new Map([[root, { next: HOST_PORT, depth: 0 }]]);
    // A random tree over the links, now and then without some switches.
    const isPartial = this.random.integer(10) === 0;
    const edges = this.random.shuffle([...this.#links]);
    for (let grown = true; grown; ) {
      grown = false;
      for (const [one, other] of edges) {
        for (const [from, to] of [
          [one, other],
          [other, one],
        ] as const) {
          const parent = tree.get(from);
          if (parent === undefined || tree.has(to) || (isPartial && this.random.integer(4) === 0)) continue;
          tree.set(to, { next: BigInt(from), depth: parent.depth + 1 });
          grown = true;
        }
      }
    }
    return tree;
  }

  /** One object for equal entities, so that what is known of them is kept. */
  #one(key: string, make: () => DesiredEntity): DesiredEntity {
    let entity = this.#entities.get(key);
    if (entity === undefined) {
      entity = make();
      this.#entities.set(key, entity);
    }
    return entity;
  }

  #route(host: number, port: bigint, stage: number): DesiredEntity {
    return this.#one(`route ${host} ${port} ${stage}`, () => ({
      entity: {
        kind: 'table-entry',
        table: 'I.routes',
        match: { destination: match.lpm(prefixOf(host), 16) },
        action: { action: 'I.send', params: { port } },
        priority: 0,
        metadata: ownMetadata(`to ${host}`),
      },
      intents: [],
      stage,
    }));
  }

  #path({ name, source, host, priority }: PathSpec, port: bigint, stage: number): DesiredEntity {
    return this.#one(`path ${name} ${host} ${priority} ${port} ${stage}`, () => ({
      entity: {
        kind: 'table-entry',
        table: 'I.paths',
        match: {
          source: match.ternary(source, 0xffff_ffffn),
          destination: match.ternary(prefixOf(host), 0xffff_0000n),
        },
        action: { action: 'I.send', params: { port } },
        priority,
        metadata: ownMetadata(name),
      },
      intents: [name],
      stage,
    }));
  }

  #block(number: number): DesiredEntity {
    return this.#one(`block ${number}`, () => ({
      entity: {
        kind: 'table-entry',
        table: 'I.access',
        match: { source: match.ternary(BigInt(number), 0xffff_ffffn) },
        action: { action: 'I.drop', params: {} },
        priority: 1,
        metadata: ownMetadata(`block ${number}`),
      },
      intents: [`block ${number}`],
      stage: 50,
    }));
  }

  #group(size: number): readonly DesiredEntity[] {
    const members = Array.from({ length: size }, (_, index) => 2000 + index);
    return [
      this.#one('ways', () => ({
        entity: {
          kind: 'table-entry',
          table: 'I.ways',
          match: { group: match.exact(4n) },
          action: { group: 2000 },
          priority: 0,
          metadata: ownMetadata('spread'),
        },
        intents: ['spread'],
        stage: 51,
      })),
      this.#one(`group ${size}`, () => ({
        entity: {
          kind: 'group',
          profile: 'I.members',
          id: 2000,
          maxSize: 0,
          members: members.map((id) => ({ id, weight: 1 })),
        },
        intents: ['spread'],
        stage: 50,
      })),
      ...members.map((id) =>
        this.#one(`member ${id}`, () => ({
          entity: {
            kind: 'member',
            profile: 'I.members',
            id,
            action: { action: 'I.send', params: { port: BigInt(id - 1999) } },
          },
          intents: ['spread'],
          stage: 50,
        })),
      ),
      this.#one('session', () => ({
        entity: {
          kind: 'clone-session',
          id: 2001,
          replicas: [{ port: 5, instance: 0 }],
          classOfService: 0,
          packetLengthBytes: 0,
        },
        intents: [],
        stage: 50,
      })),
    ];
  }
}

/** Entries of paths and routes, in the order in which the first match decides. */
function sorted(entities: Iterable<Entity>): readonly TableEntry[] {
  const rank = ({ table, priority = 0 }: TableEntry): number => (table === 'I.paths' ? 1_000 + priority : 0);
  return [...entities]
    .filter((each): each is TableEntry => each.kind === 'table-entry')
    .filter(({ table, isDefault }) => (table === 'I.paths' || table === 'I.routes') && isDefault !== true)
    .sort((one, other) => rank(other) - rank(one));
}

function nextOf(entries: readonly TableEntry[], source: bigint, destination: bigint): bigint | undefined {
  const found = entries.find(
    (each) => matches(each.match.source, source) && matches(each.match.destination, destination),
  );
  const action = found?.action;
  return action !== undefined && 'params' in action ? (action.params.port as bigint) : undefined;
}

function matches(field: unknown, value: bigint): boolean {
  if (field === undefined) return true;
  const {
    kind,
    value: wanted,
    mask,
    length,
  } = field as { kind: string; value: bigint; mask?: bigint; length?: number };
  const bits = kind === 'lpm' ? ~((1n << BigInt(32 - (length ?? 32))) - 1n) : (mask ?? ~0n);
  return (value & bits) === (wanted & bits);
}
