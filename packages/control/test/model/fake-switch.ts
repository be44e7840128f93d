/**
 * A switch with sessions, elections and every fault. Its tables are a second implementation, plain and small, or those of a real
 * machine.
 */
import type { Change, SwitchConnection, SwitchContents } from '@int/control';
import { type Entity, P4RuntimeError, type p4config, type UpdateError } from '@int/p4runtime';
import type { LocalSwitch } from '@int/p4runtime/internals';
import type { Random } from '@int/random';
import type { VirtualClock } from './virtual-clock.js';

/** Canonical codes of gRPC. */
const CODES: Readonly<Record<string, number>> = {
  INTERNAL: 13,
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  FAILED_PRECONDITION: 9,
  RESOURCE_EXHAUSTED: 8,
};

/** How often something goes wrong, in a thousand. */
export interface Faults {
  readonly refusal: number;
  readonly hang: number;
  readonly failure: number;
  /** Acknowledged, and not done. */
  readonly lie: number;
}

export const NO_FAULTS: Faults = { refusal: 0, hang: 0, failure: 0, lie: 0 };

export interface SwitchSetting {
  readonly p4info: p4config.P4Info;
  /** Entries that tables hold. */
  readonly rooms: Readonly<Record<string, number>>;
  /** A machine that has nothing in its tables yet. */
  readonly machine?: () => LocalSwitch;
}

export class FakeSwitch {
  readonly tables = new Map<string, Entity>();
  readonly sessions = new Set<FakeConnection>();
  /** Entries got lost, or what was acknowledged was not done, and nobody has read since. */
  isUnseen = false;
  /** So often something got lost. */
  losses = 0;
  faults: Faults = NO_FAULTS;
  machine: LocalSwitch | undefined;
  /** Changes with what is in its tables. */
  version = 0;
  /** Whether who sends something knows what all switches have. */
  isInformed: (sender: FakeConnection) => boolean = () => true;
  /** Whether who has sent what is being done knew that when it was sent. */
  wasInformed = true;

  constructor(
    readonly id: number,
    readonly setting: SwitchSetting,
    readonly clock: VirtualClock,
    readonly random: Random,
    readonly onUpdate: (it: FakeSwitch, what: string, entity: Entity) => void,
  ) {
    this.machine = setting.machine?.();
  }

  get primary(): FakeConnection | undefined {
    return [...this.sessions].sort((one, other) => other.electionId - one.electionId)[0];
  }

  /** Sessions end; nothing stays in the tables. */
  restart(): void {
    for (const session of [...this.sessions]) session.disconnect();
    this.tables.clear();
    this.machine = this.setting.machine?.();
    this.version++;
    this.isUnseen = false;
  }

  /** Something is there by itself, unless the place is taken. */
  put(entity: Entity): void {
    if (this.tables.has(keyOf(entity))) return;
    if (this.machine?.write({ type: 'insert', entity }) !== undefined) return;
    this.tables.set(keyOf(entity), entity);
    this.version++;
  }

  /** An entry is gone by itself. */
  lose(key: string): void {
    const entity = this.tables.get(key)!;
    const refused = this.machine?.write({ type: 'delete', entity: placeOf(entity) });
    if (refused !== undefined) throw new Error(`${key}: ${refused.message}`);
    this.tables.delete(key);
    this.losses++;
    this.version++;
  }

  chance(perThousand: number): boolean {
    return this.random.integer(1000) < perThousand;
  }

  /** @returns why it is refused */
  apply({ type, before, after }: Change): { code: string; message: string } | undefined {
    const entity = (type === 'delete' ? before : after)!;
    const key = keyOf(entity);
    if (this.chance(this.faults.refusal)) return { code: 'INTERNAL', message: 'a fault of the hardware' };
    if (this.chance(this.faults.lie)) {
      this.isUnseen = true;
      this.losses++;
      return undefined;
    }
    const refused = this.machine === undefined ? this.#check(type, entity) : this.#write(type, entity);
    if (refused !== undefined) return refused;
    // A default entry that has no mark is that of the program.
    const isProgram = entity.kind === 'table-entry' && entity.isDefault === true && entity.metadata === undefined;
    if (type === 'delete' || isProgram) this.tables.delete(key);
    else this.tables.set(key, entity);
    this.version++;
    this.onUpdate(this, `${type} ${key}`, entity);
    return undefined;
  }

  #write(type: Change['type'], entity: Entity): { code: string; message: string } | undefined {
    const refused = this.machine!.write({ type, entity: type === 'delete' ? placeOf(entity) : entity });
    return refused && { code: refused.grpcName, message: refused.message };
  }

  #check(type: Change['type'], entity: Entity): { code: string; message: string } | undefined {
    const key = keyOf(entity);
    const isThere = this.tables.has(key);
    if (type === 'insert' && isThere) return { code: 'ALREADY_EXISTS', message: key };
    if (type !== 'insert' && !isThere) return { code: 'NOT_FOUND', message: key };
    if (type === 'delete') {
      return this.#isUsed(entity) ? { code: 'FAILED_PRECONDITION', message: `${key} is in use` } : undefined;
    }
    if (!this.#hasAll(entity)) return { code: 'NOT_FOUND', message: `what ${key} refers to` };
    const table = entity.kind === 'table-entry' ? entity.table : '';
    const count = [...this.tables.values()].filter(
      (each) => each.kind === 'table-entry' && each.table === table,
    ).length;
    const isFull = type === 'insert' && count >= (this.setting.rooms[table] ?? Number.POSITIVE_INFINITY);
    return isFull ? { code: 'RESOURCE_EXHAUSTED', message: `${table} is full` } : undefined;
  }

  #isUsed(entity: Entity): boolean {
    return [...this.tables.values()].some(
      (each) =>
        (entity.kind === 'member' && each.kind === 'group' && each.members.some(({ id }) => id === entity.id)) ||
        (entity.kind === 'group' &&
          each.kind === 'table-entry' &&
          each.action !== undefined &&
          'group' in each.action &&
          each.action.group === entity.id),
    );
  }

  #hasAll(entity: Entity): boolean {
    const has = (kind: string, id: number): boolean => this.tables.has(`${kind} ${id}`);
    if (entity.kind === 'group') return entity.members.every(({ id }) => has('member', id));
    return (
      !(entity.kind === 'table-entry' && entity.action !== undefined && 'group' in entity.action) ||
      has('group', entity.action.group)
    );
  }
}

/** A controller's session with a switch. Requests are answered in their order, some of them late. */
export class FakeConnection implements SwitchConnection {
  #listener: () => void = () => {};
  #isConnected = false;
  #freeAtMs = 0;
  isClosed = false;
  /** Requests on their way. */
  pending = 0;
  mostPending = 0;

  constructor(
    readonly to: FakeSwitch,
    readonly electionId: number,
  ) {}

  get switchId(): number {
    return this.to.id;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  get isPrimary(): boolean {
    return this.to.primary === this;
  }

  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  connect(): void {
    if (this.#isConnected || this.isClosed) return;
    this.#change(() => {
      this.#isConnected = true;
      this.to.sessions.add(this);
    });
  }

  disconnect(): void {
    if (!this.#isConnected) return;
    this.#change(() => {
      this.#isConnected = false;
      this.to.sessions.delete(this);
    });
  }

  /** Others may become the primary, or are no longer. */
  #change(what: () => void): void {
    const before = this.to.primary;
    what();
    const after = this.to.primary;
    this.#listener();
    if (before === after) return;
    for (const each of [before, after]) if (each !== undefined && each !== this) each.#listener();
  }

  read(): Promise<SwitchContents> {
    const sinceMs = this.to.clock.nowMs();
    let losses = 0;
    const contents = this.#request(() => {
      losses = this.to.losses;
      return { p4info: this.to.setting.p4info, entities: [...this.to.tables.values()] };
    });
    void contents.then(
      () => {
        // Nobody waits longer for an answer, and what got lost while it was on its way is not in it.
        if (this.to.clock.nowMs() - sinceMs < 10_000 && losses === this.to.losses) this.to.isUnseen = false;
      },
      () => {},
    );
    return contents;
  }

  write(changes: readonly Change[]): Promise<void> {
    const wasInformed = this.to.isInformed(this);
    return this.#request(() => {
      this.to.wasInformed = wasInformed;
      if (!this.isPrimary) throw new P4RuntimeError('ERR_P4RUNTIME_NOT_PRIMARY', 'another is the primary');
      const updates: UpdateError[] = [];
      for (const [index, change] of changes.entries()) {
        const refusal = this.to.apply(change);
        if (refusal === undefined) continue;
        const { code, message } = refusal;
        updates.push({ index, grpcCode: CODES[code]!, grpcName: code, message, space: 'fake', targetCode: 0 });
      }
      if (updates.length > 0) throw new P4RuntimeError('ERR_P4RUNTIME_REFUSED', 'some were refused', { updates });
    });
  }

  async close(): Promise<void> {
    this.disconnect();
    this.isClosed = true;
  }

  #request<T>(work: () => T): Promise<T> {
    const { clock, random, faults } = this.to;
    this.pending++;
    this.mostPending = Math.max(this.mostPending, this.pending);
    const isHanging = this.to.chance(faults.hang);
    const isFailing = this.to.chance(faults.failure);
    const latencyMs = isHanging ? 5_000 + random.integer(40_000) : random.integer(30);
    this.#freeAtMs = Math.max(this.#freeAtMs, clock.nowMs() + latencyMs);
    return new Promise<T>((resolve, reject) => {
      const lost = (): P4RuntimeError => new P4RuntimeError('ERR_P4RUNTIME_CONNECTION', 'the connection broke');
      const wasConnected = this.#isConnected;
      clock.schedule(this.#freeAtMs - clock.nowMs(), () => {
        let answer: () => void;
        if (!wasConnected || !this.#isConnected) answer = () => reject(lost());
        else {
          try {
            const result = work();
            answer = () => (isFailing || !this.#isConnected ? reject(lost()) : resolve(result));
          } catch (error) {
            answer = () => reject(isFailing || !this.#isConnected ? lost() : (error as Error));
          }
        }
        clock.schedule(random.integer(10), () => {
          this.pending--;
          answer();
        });
      });
    });
  }
}

/** What names an entity that is deleted. */
function placeOf(entity: Entity): Entity {
  if (entity.kind !== 'table-entry') return entity;
  const { kind, table, match, priority } = entity;
  return { kind, table, match, ...(priority !== undefined && { priority }) };
}

/** The place of an entity, as text. */
export function keyOf(entity: Entity): string {
  switch (entity.kind) {
    case 'table-entry':
      return `${entity.table} ${entity.isDefault === true ? 'default' : textOf(entity.match)} ${entity.priority ?? 0}`;
    case 'member':
    case 'group':
    case 'clone-session':
    case 'multicast-group':
      return `${entity.kind} ${entity.id}`;
    default:
      throw new TypeError(`there is no ${entity.kind} here`);
  }
}

/** An entity as text, without its metadata. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (key, each: unknown) => {
    if (key === 'metadata') return undefined;
    if (typeof each === 'bigint') return `${each}n`;
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
