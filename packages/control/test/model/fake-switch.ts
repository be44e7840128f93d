/** A second implementation of a switch's tables, plain and small, with sessions, elections and every fault. */
import type { Change, SwitchConnection, SwitchContents } from '@int/control';
import { type Entity, P4RuntimeError, type p4config, type UpdateError } from '@int/p4runtime';
import type { Random } from '@int/random';
import type { VirtualClock } from './virtual-clock.js';

/** Canonical codes of gRPC. */
const CODES = { INTERNAL: 13, NOT_FOUND: 5, ALREADY_EXISTS: 6, FAILED_PRECONDITION: 9, RESOURCE_EXHAUSTED: 8 } as const;

/** How often something goes wrong, in a thousand. */
export interface Faults {
  readonly refusal: number;
  readonly hang: number;
  readonly failure: number;
  /** Acknowledged, and not done. */
  readonly lie: number;
}

export const NO_FAULTS: Faults = { refusal: 0, hang: 0, failure: 0, lie: 0 };

export class FakeSwitch {
  readonly tables = new Map<string, Entity>();
  readonly sessions = new Set<FakeConnection>();
  /** Entries got lost, or what was acknowledged was not done, and nobody has read since. */
  isUnseen = false;
  faults: Faults = NO_FAULTS;

  constructor(
    readonly id: number,
    readonly p4info: p4config.P4Info,
    readonly clock: VirtualClock,
    readonly random: Random,
    readonly rooms: Readonly<Record<string, number>>,
    readonly onUpdate: (it: FakeSwitch, what: string) => void,
  ) {}

  get primary(): FakeConnection | undefined {
    return [...this.sessions].sort((one, other) => other.electionId - one.electionId)[0];
  }

  /** Sessions end; nothing stays in the tables. */
  restart(): void {
    for (const session of [...this.sessions]) session.disconnect();
    this.tables.clear();
    this.isUnseen = false;
  }

  chance(perThousand: number): boolean {
    return this.random.integer(1000) < perThousand;
  }

  /** @returns why it is refused */
  apply({ type, before, after }: Change): { code: keyof typeof CODES; message: string } | undefined {
    const entity = (type === 'delete' ? before : after)!;
    const key = keyOf(entity);
    if (this.chance(this.faults.refusal)) return { code: 'INTERNAL', message: 'a fault of the hardware' };
    if (this.chance(this.faults.lie)) {
      this.isUnseen = true;
      return undefined;
    }
    const isThere = this.tables.has(key);
    if (type === 'insert' && isThere) return { code: 'ALREADY_EXISTS', message: key };
    if (type !== 'insert' && !isThere) return { code: 'NOT_FOUND', message: key };
    if (type === 'delete') {
      if (this.#isUsed(entity)) return { code: 'FAILED_PRECONDITION', message: `${key} is in use` };
      this.tables.delete(key);
    } else {
      if (!this.#hasAll(entity)) return { code: 'NOT_FOUND', message: `what ${key} refers to` };
      const table = entity.kind === 'table-entry' ? entity.table : '';
      const count = [...this.tables.values()].filter(
        (each) => each.kind === 'table-entry' && each.table === table,
      ).length;
      if (type === 'insert' && count >= (this.rooms[table] ?? Number.POSITIVE_INFINITY)) {
        return { code: 'RESOURCE_EXHAUSTED', message: `${table} is full` };
      }
      this.tables.set(key, entity);
    }
    this.onUpdate(this, `${type} ${key}`);
    return undefined;
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
    const contents = this.#request(() => ({ p4info: this.to.p4info, entities: [...this.to.tables.values()] }));
    void contents.then(
      () => {
        // Nobody waits longer for an answer.
        if (this.to.clock.nowMs() - sinceMs < 10_000) this.to.isUnseen = false;
      },
      () => {},
    );
    return contents;
  }

  write(changes: readonly Change[]): Promise<void> {
    return this.#request(() => {
      if (!this.isPrimary) throw new P4RuntimeError('ERR_P4RUNTIME_NOT_PRIMARY', 'another is the primary');
      const updates: UpdateError[] = [];
      for (const [index, change] of changes.entries()) {
        const refusal = this.to.apply(change);
        if (refusal === undefined) continue;
        const { code, message } = refusal;
        updates.push({ index, grpcCode: CODES[code], grpcName: code, message, space: 'fake', targetCode: 0 });
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

/** The place of an entity, as text. */
export function keyOf(entity: Entity): string {
  switch (entity.kind) {
    case 'table-entry':
      return `${entity.table} ${textOf(entity.match)} ${entity.priority ?? 0}`;
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
