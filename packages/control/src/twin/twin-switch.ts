import { type Entity, P4vmTarget } from '@int/p4runtime';
import { type LocalProgram, LocalSwitch, type RefusedUpdate } from '@int/p4runtime/internals';
import { type InFlightPacket, VirtualClock } from '@int/p4vm';
import type { DesiredEntity } from '../change/desired-state.js';

/** A packet that left a switch. */
export interface Output {
  readonly port: number;
  readonly frame: Uint8Array;
  /** A copy that the program made for the collector: not the packet itself. */
  readonly isReport: boolean;
}

/** An entry that a packet hit on its way through a switch. */
export interface HitEntry {
  readonly table: string;
  /** What tells it from all others of its switch. */
  readonly key: string;
  /** As it was written; undefined: the program has it. */
  readonly entity: Entity | undefined;
  readonly intents: readonly string[];
  /** Whether a meter bounds its packets. */
  readonly isMetered: boolean;
}

/** Instance types of clones in v1model: of ingress, of egress. */
const CLONES: ReadonlySet<number> = new Set([1, 2]);

/** What the buckets of meters need to be full again, by far. */
const REST_US = 60_000_000;

/** Entities of later kinds refer to those of earlier ones; the rest comes last. */
const ORDER: readonly Entity['kind'][] = ['member', 'group', 'multicast-group', 'clone-session', 'table-entry'];

function orderOf({ kind }: Entity): number {
  const at = ORDER.indexOf(kind);
  return at < 0 ? ORDER.length : at;
}

/** Default entries and cells of arrays are always there. */
function isAlwaysThere(entity: Entity): boolean {
  switch (entity.kind) {
    case 'table-entry':
      return entity.isDefault === true;
    case 'member':
    case 'group':
    case 'multicast-group':
    case 'clone-session':
      return false;
    case 'digest':
      return false;
    default:
      return true;
  }
}

/** The machine of one switch of the twin. */
export class TwinSwitch {
  readonly #local: LocalSwitch;
  readonly #clock = new VirtualClock();
  readonly #waiting: InFlightPacket[] = [];
  /** Entities and the intents behind them, in the order in which they came; `null`: it was deleted. */
  readonly #log: { readonly entity: Entity; readonly intents: readonly string[] | null }[] = [];
  #hasMeters = false;
  #known: { readonly size: number; readonly byKey: ReadonlyMap<string, Known> } | undefined;

  constructor(
    readonly id: number,
    program: LocalProgram,
  ) {
    const trafficManager = {
      enqueue: (packet: InFlightPacket): boolean => {
        this.#waiting.push(packet);
        return true;
      },
      // The packet itself goes on at once. What waits are copies of it.
      pass: () => true,
    };
    this.#local = new LocalSwitch(program, new P4vmTarget({ environment: { clock: this.#clock, trafficManager } }));
  }

  /** Installs what the switch has. @returns what it refuses, with the entity */
  install(entities: readonly DesiredEntity[]): { readonly entity: Entity; readonly refused: RefusedUpdate }[] {
    const ordered = [...entities].sort((a, b) => orderOf(a.entity) - orderOf(b.entity));
    return ordered.flatMap(({ entity, intents }) => {
      const refused = this.write(isAlwaysThere(entity) ? 'modify' : 'insert', entity, intents);
      return refused === undefined ? [] : [{ entity, refused }];
    });
  }

  write(type: 'insert' | 'modify' | 'delete', entity: Entity, intents: readonly string[]): RefusedUpdate | undefined {
    const refused = this.#local.write({ type, entity });
    if (refused !== undefined) return refused;
    this.#log.push({ entity, intents: type === 'delete' ? null : intents });
    if (ratesOf(entity) !== undefined) this.#hasMeters = true;
    return undefined;
  }

  /** Changes when something is written. */
  get version(): number {
    return this.#log.length;
  }

  tables(): ReturnType<LocalSwitch['tables']> {
    return this.#local.tables();
  }

  /** Lets the time pass between two packets of a flow: those that do not suffer from each other have full buckets. */
  pause(gapUs: number): void {
    this.#clock.advance(this.#hasMeters ? REST_US : gapUs);
  }

  /** Lets the time pass until every meter's buckets are full, so that no packet suffers from another one. */
  rest(): void {
    this.#clock.advance(REST_US);
  }

  /** Sends a packet through. @param afterUs time since the packet before, in microseconds */
  process(port: number, frame: Uint8Array, afterUs = 1): Output[] {
    const { machine } = this.#local;
    const outputs: Output[] = [];
    let isReport = false;
    this.#clock.advance(afterUs);
    machine.onTransmit = (to, bytes, offset, length) => {
      outputs.push({ port: to, frame: bytes.slice(offset, offset + length), isReport });
    };
    machine.receive(port, frame);
    for (let packet = this.#waiting.shift(); packet !== undefined; packet = this.#waiting.shift()) {
      isReport = CLONES.has(packet.instanceType);
      machine.dequeue(packet);
    }
    return outputs;
  }

  /** Whether any entity has, or had, a meter. */
  hasMeters(): boolean {
    return this.#hasMeters;
  }

  /** The entries that a packet hits. Counters and meters see the packet, too. */
  hits(port: number, frame: Uint8Array): HitEntry[] {
    this.rest();
    const { events } = this.#local.machine.trace(port, frame);
    const known = this.#knownByKey();
    return events.flatMap((event): HitEntry[] => {
      if (event.kind !== 'table' || !event.hit) return [];
      const found = this.#local.entry(event.table, event.handle);
      const key = found === undefined ? event.table : keyOf(found);
      const { entity, intents = [], isMetered = false } = known.get(key) ?? {};
      return [{ table: event.table, key, entity, intents, isMetered }];
    });
  }

  /**
   * Whether a packet leaves, if entries that it hits are not there, nor those that it hits in their place. All is as before
   * afterwards.
   *
   * @param which of those that are hit are taken away
   */
  passesWithout(which: (hits: readonly HitEntry[]) => readonly HitEntry[], port: number, frame: Uint8Array): boolean {
    const gone: Entity[] = [];
    let passes = false;
    for (;;) {
      const taken = which(this.hits(port, frame)).flatMap(({ entity }) => entity ?? []);
      const removed = taken.filter((entity) => this.#local.write({ type: 'delete', entity }) === undefined);
      gone.push(...removed);
      this.rest();
      passes = this.process(port, frame).some(({ isReport }) => !isReport);
      if (passes || removed.length === 0) break;
    }
    for (const entity of gone) this.#local.write({ type: 'insert', entity });
    return passes;
  }

  #knownByKey(): ReadonlyMap<string, Known> {
    const { length: size } = this.#log;
    if (this.#known?.size === size) return this.#known.byKey;
    const byKey = new Map<string, Known>();
    for (const { entity, intents } of this.#log) {
      const normal = this.#local.normal(entity);
      const key = keyOf(normal);
      if (normal.kind === 'direct-meter') {
        const of = keyOf(normal.entry);
        const entry = byKey.get(of);
        if (entry !== undefined) byKey.set(of, { ...entry, isMetered: normal.rates !== undefined });
      } else if (intents === null) byKey.delete(key);
      else byKey.set(key, { entity, intents, isMetered: ratesOf(entity) !== undefined });
    }
    this.#known = { size, byKey };
    return byKey;
  }
}

interface Known {
  readonly entity: Entity;
  readonly intents: readonly string[];
  readonly isMetered: boolean;
}

function ratesOf(entity: Entity): unknown {
  if (entity.kind === 'table-entry') return entity.meter;
  return entity.kind === 'meter' || entity.kind === 'direct-meter' ? entity.rates : undefined;
}

/** What tells an entity from all others of its switch. @param entity with full names and numbers, as a switch answers */
function keyOf(entity: Entity): string {
  switch (entity.kind) {
    case 'table-entry':
      return text([
        'table-entry',
        entity.table,
        entity.priority ?? 0,
        entity.isDefault === true,
        matchOf(entity.match),
      ]);
    case 'member':
    case 'group':
      return text([entity.kind, entity.profile, entity.id]);
    case 'multicast-group':
    case 'clone-session':
      return text([entity.kind, entity.id]);
    case 'counter':
      return text([entity.kind, entity.counter, entity.index ?? -1]);
    case 'meter':
      return text([entity.kind, entity.meter, entity.index ?? -1]);
    case 'register':
      return text([entity.kind, entity.register, entity.index ?? -1]);
    case 'direct-counter':
    case 'direct-meter':
      return text([entity.kind, keyOf(entity.entry)]);
    case 'value-set':
      return text([entity.kind, entity.valueSet]);
    case 'digest':
      return text([entity.kind, entity.digest]);
  }
}

function matchOf(match: Readonly<Record<string, unknown>>): unknown {
  return Object.entries(match).sort(([a], [b]) => (a < b ? -1 : 1));
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each));
}
