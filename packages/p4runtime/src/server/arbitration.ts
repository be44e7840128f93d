import { create } from '@bufbuild/protobuf';
import type { Any } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { StatusSchema } from '../generated/google/rpc/status_pb.js';
import {
  type MasterArbitrationUpdate,
  MasterArbitrationUpdateSchema,
  type Role,
  RoleSchema,
  type StreamMessageResponse,
  StreamMessageResponseSchema,
  type Uint128,
  Uint128Schema,
} from '../generated/p4/v1/p4runtime_pb.js';
import type { P4RuntimeLimits } from './limits.js';
import { invalid, OK, refuse } from './refusal.js';

/** What a role may do. By default everything. */
export interface RoleOptions {
  /** Names of the tables, counters and so on that it may change and gets digests and idle times of; default: all. */
  readonly entities?: readonly string[];
  /** Whether it may change multicast groups and clone sessions; default: as with `entities`, all or none. */
  readonly replication?: boolean;
  readonly packetIn?: boolean;
  readonly packetOut?: boolean;
  /** Whether it may set the pipeline. */
  readonly pipeline?: boolean;
}

/** What arbitration needs of a stream. */
export interface Client {
  /** @returns false if the message is dropped */
  send(message: StreamMessageResponse): boolean;
}

/** A stream that has said who it is. */
export interface Member {
  readonly client: Client;
  /** Undefined: it never becomes primary. */
  electionId: bigint | undefined;
  /** As the client gave it, for answers. */
  readonly given: Role | undefined;
}

/** The clients of one role, and which of them is the primary. */
export class RoleState {
  readonly members = new Map<Client, Member>();
  primary: Member | undefined;
  /** The highest election id ever seen. */
  highest: bigint | undefined;
  config: Any | undefined;

  constructor(
    readonly name: string,
    readonly options: RoleOptions,
  ) {}
}

export function electionIdOf(id: Uint128 | undefined): bigint | undefined {
  return id && (id.high << 64n) | id.low;
}

/** The name of a role; older clients give a number instead, which stands for a name of its own. */
export function roleName(name: string, id: bigint): string {
  return name === '' && id !== 0n ? `#${id}` : name;
}

/**
 * Finds the primary client of each role of a device. (P4Runtime 1.5, section "Client Arbitration and Controller
 * Replication")
 */
export class Arbitration {
  readonly #roles = new Map<string, RoleState>();

  /**
   * @param known the roles that clients may take; undefined: any, and each may do everything
   * @param settled calls back once all requests that have begun are done
   */
  constructor(
    readonly deviceId: bigint,
    readonly limits: Pick<P4RuntimeLimits, 'roles' | 'streamsPerRole'>,
    readonly known: Readonly<Record<string, RoleOptions>> | undefined,
    readonly settled: (callback: () => void) => void,
  ) {}

  /** Roles with a primary. */
  *primaries(): Generator<{ readonly role: RoleState; readonly client: Client }> {
    for (const role of this.#roles.values())
      if (role.primary !== undefined) yield { role, client: role.primary.client };
  }

  /** @throws Refusal NOT_FOUND for an unknown role */
  role(name: string): RoleState {
    const role = this.#roles.get(name);
    if (role !== undefined) return role;
    if (name === '' || (this.known !== undefined && Object.hasOwn(this.known, name))) {
      return new RoleState(name, this.#optionsOf(name));
    }
    return refuse(Code.NotFound, `there is no role ${name}`);
  }

  /** Whether a client is the primary of a role. */
  isPrimary(role: RoleState, electionId: bigint | undefined): boolean {
    return electionId !== undefined && role.primary !== undefined && role.primary.electionId === electionId;
  }

  /** The role in which a client is primary. */
  roleOf(client: Client): RoleState | undefined {
    for (const role of this.#roles.values()) if (role.primary?.client === client) return role;
    return undefined;
  }

  /**
   * Takes an arbitration message.
   *
   * @param current the role that the stream has taken before; undefined: none
   * @returns the role of the stream
   * @throws Refusal, which ends the stream
   */
  update(client: Client, message: MasterArbitrationUpdate, current: RoleState | undefined): RoleState {
    const { role: given } = message;
    const name = roleName(given?.name ?? '', given?.id ?? 0n);
    if (current !== undefined && current.name !== name) {
      refuse(Code.FailedPrecondition, 'the role of a stream cannot change');
    }
    if (given?.config !== undefined) invalid('configurations of roles are not known here');
    const electionId = electionIdOf(message.electionId);
    const role = current ?? this.#join(name);
    const isTaken = [...role.members].some(([other, each]) => other !== client && each.electionId === electionId);
    if (electionId !== undefined && isTaken) {
      invalid(`${current === undefined ? 'Election' : 'New election'} id already exists: ${electionId}`);
    }
    const member = role.members.get(client) ?? { client, electionId, given };
    if (!role.members.has(client)) {
      if (role.members.size >= this.limits.streamsPerRole) {
        refuse(Code.ResourceExhausted, `Too many connections: the role has ${role.members.size} streams already`);
      }
      role.members.set(client, member);
      this.#roles.set(name, role);
    }
    this.#elect(role, member, electionId);
    return role;
  }

  /** Removes a stream that has ended. */
  leave(client: Client, role: RoleState): void {
    role.members.delete(client);
    if (role.primary?.client === client) {
      role.primary = undefined;
      this.#notify(role);
    }
    // A role that never had a primary leaves nothing to remember.
    if (role.members.size === 0 && role.highest === undefined) this.#roles.delete(role.name);
  }

  #join(name: string): RoleState {
    const role = this.#roles.get(name);
    if (role !== undefined) return role;
    if (name !== '' && this.known !== undefined && !Object.hasOwn(this.known, name)) {
      refuse(Code.NotFound, `there is no role ${name}`);
    }
    if (name !== '' && this.#roles.size >= this.limits.roles) {
      refuse(Code.ResourceExhausted, `the device has ${this.#roles.size} roles already`);
    }
    return new RoleState(name, this.#optionsOf(name));
  }

  #optionsOf(name: string): RoleOptions {
    return name === '' || this.known === undefined ? {} : (this.known[name] ?? {});
  }

  #elect(role: RoleState, member: Member, electionId: bigint | undefined): void {
    const wasPrimary = role.primary === member;
    const before = member.electionId;
    const highest = role.highest;
    member.electionId = electionId;
    const isPrimary = electionId !== undefined && (highest === undefined || electionId >= highest);
    if (isPrimary) {
      role.primary = member;
      role.highest = electionId;
      if (wasPrimary && before === electionId) {
        this.#tell(role, member);
        return;
      }
      this.#notify(role, member);
      // The new primary hears of it once the Writes of the one before are done.
      this.settled(() => {
        if (role.primary === member && role.members.has(member.client)) this.#tell(role, member);
      });
    } else if (wasPrimary) {
      role.primary = undefined;
      this.#notify(role);
    } else this.#tell(role, member);
  }

  #notify(role: RoleState, except?: Member): void {
    for (const member of role.members.values()) if (member !== except) this.#tell(role, member);
  }

  #tell(role: RoleState, member: Member): void {
    const { primary, highest, config } = role;
    const status =
      primary === undefined
        ? { code: Code.NotFound, message: 'There is no primary' }
        : primary === member
          ? { code: OK, message: 'Is primary' }
          : { code: Code.AlreadyExists, message: 'Is backup' };
    const { given } = member;
    const arbitration = create(MasterArbitrationUpdateSchema, {
      deviceId: this.deviceId,
      role: given && create(RoleSchema, { name: given.name, id: given.id, config }),
      electionId:
        highest === undefined
          ? undefined
          : create(Uint128Schema, { high: highest >> 64n, low: BigInt.asUintN(64, highest) }),
      status: create(StatusSchema, status),
    });
    const update = { case: 'arbitration', value: arbitration } as const;
    member.client.send(create(StreamMessageResponseSchema, { update }));
  }
}
