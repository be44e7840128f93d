import { clone, create } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import {
  type CloneSessionEntry,
  CloneSessionEntrySchema,
  type MulticastGroupEntry,
  MulticastGroupEntrySchema,
  type Replica,
  ReplicaSchema,
  Update_Type,
} from '../generated/p4/v1/p4runtime_pb.js';
import { shortestBytes } from '../values/bytes.js';
import { keptMetadata } from './entry-extras.js';
import { canonicalPort, replicaPort } from './ports.js';
import { invalid, refuse } from './refusal.js';
import type { P4RuntimeTarget, TargetPipeline, TargetReplica } from './target.js';
import type { UndoLog } from './undo.js';

type Device = Pick<P4RuntimeTarget, 'hasPort' | 'limits'>;

/** Multicast groups and clone sessions. It keeps them as the client wrote them, with ports in their shortest form. */
export class ReplicationState {
  readonly #groups = new Map<number, MulticastGroupEntry>();
  readonly #sessions = new Map<number, CloneSessionEntry>();

  constructor(
    readonly pipeline: TargetPipeline,
    readonly device: Device,
  ) {}

  /** @throws Refusal */
  writeGroup(type: Update_Type, given: MulticastGroupEntry, undo: UndoLog): void {
    const id = given.multicastGroupId;
    if (id === 0) invalid('0 is not a valid group id');
    if (id > this.device.limits.multicastGroup) {
      refuse(Code.OutOfRange, `Group id value is too high: ${id}, up to ${this.device.limits.multicastGroup}`);
    }
    const exists = this.pipeline.multicastGroup(id) !== undefined;
    if (!this.#needExistence(type, exists, 'Multicast group', id)) {
      this.#setGroup(id, undefined, undo);
      return;
    }
    const entry = clone(MulticastGroupEntrySchema, given);
    entry.metadata = keptMetadata(given.metadata);
    this.#replicas(entry.replicas, `multicast group ${id}`);
    for (const each of entry.replicas) each.portKind = canonicalPort(each.portKind);
    this.#setGroup(id, entry, undo);
  }

  /** @throws Refusal */
  writeSession(type: Update_Type, given: CloneSessionEntry, undo: UndoLog): void {
    const { sessionId: id, classOfService, packetLengthBytes } = given;
    const { limits } = this.device;
    if (id === 0) invalid('0 is not a valid session id');
    if (id > limits.cloneSession) invalid(`Clone session id out-of-range: ${id}, up to ${limits.cloneSession}`);
    const exists = this.pipeline.cloneSession(id) !== undefined;
    if (!this.#needExistence(type, exists, 'Clone session id', id)) {
      this.#setSession(id, undefined, undo);
      return;
    }
    if (classOfService > limits.classOfService)
      invalid(`class of service ${classOfService}: up to ${limits.classOfService}`);
    if (packetLengthBytes < 0) invalid('packet_length_bytes is negative');
    const entry = clone(CloneSessionEntrySchema, given);
    this.#replicas(entry.replicas, `clone session ${id}`);
    for (const each of entry.replicas) each.portKind = canonicalPort(each.portKind);
    this.#setSession(id, entry, undo);
  }

  /** The groups to read, 0 for all. @throws Refusal NOT_FOUND if there is no such group */
  groups(id: number): readonly MulticastGroupEntry[] {
    const ids = id === 0 ? this.pipeline.multicastGroups() : [id];
    return ids.map((each) => {
      const replicas = this.pipeline.multicastGroup(each);
      if (replicas === undefined) return refuse(Code.NotFound, `Multicast group does not exist: ${each}`);
      return (
        this.#groups.get(each) ??
        create(MulticastGroupEntrySchema, { multicastGroupId: each, replicas: replicas.map(replicaMessage) })
      );
    });
  }

  /** The clone sessions to read, 0 for all. @throws Refusal NOT_FOUND if there is no such session */
  sessions(id: number): readonly CloneSessionEntry[] {
    const ids = id === 0 ? this.pipeline.cloneSessions() : [id];
    return ids.map((each) => {
      const session = this.pipeline.cloneSession(each);
      if (session === undefined) return refuse(Code.NotFound, `Clone session id does not exist: ${each}`);
      const known = this.#sessions.get(each);
      if (known !== undefined) return known;
      const { replicas, classOfService, maxBytes } = session;
      return create(CloneSessionEntrySchema, {
        sessionId: each,
        replicas: replicas.map(replicaMessage),
        classOfService,
        packetLengthBytes: maxBytes,
      });
    });
  }

  /** @returns whether the update leaves an entry */
  #needExistence(type: Update_Type, exists: boolean, what: string, id: number): boolean {
    if (type === Update_Type.INSERT) {
      if (exists) refuse(Code.AlreadyExists, `${what} already exists: ${id}`);
      return true;
    }
    if (type !== Update_Type.MODIFY && type !== Update_Type.DELETE) invalid('Update type is not set');
    if (!exists) refuse(Code.NotFound, `${what} does not exist: ${id}`);
    return type === Update_Type.MODIFY;
  }

  #setGroup(id: number, entry: MulticastGroupEntry | undefined, undo: UndoLog): void {
    const before = this.#groups.get(id);
    const replicasBefore = this.pipeline.multicastGroup(id);
    this.pipeline.setMulticastGroup(id, entry && this.#replicas(entry.replicas, `multicast group ${id}`));
    set(this.#groups, id, entry);
    undo?.push(() => {
      this.pipeline.setMulticastGroup(id, replicasBefore);
      set(this.#groups, id, before);
    });
  }

  #setSession(id: number, entry: CloneSessionEntry | undefined, undo: UndoLog): void {
    const before = this.#sessions.get(id);
    const sessionBefore = this.pipeline.cloneSession(id);
    this.pipeline.setCloneSession(
      id,
      entry && {
        replicas: this.#replicas(entry.replicas, `clone session ${id}`),
        classOfService: entry.classOfService,
        maxBytes: entry.packetLengthBytes,
      },
    );
    set(this.#sessions, id, entry);
    undo?.push(() => {
      this.pipeline.setCloneSession(id, sessionBefore);
      set(this.#sessions, id, before);
    });
  }

  #replicas(replicas: readonly Replica[], what: string): readonly TargetReplica[] {
    const { limits } = this.device;
    const seen = new Set<string>();
    return replicas.map((replica) => {
      const { instance, backupReplicas } = replica;
      const port = replicaPort(this.device, replica, what);
      if (instance > limits.instance) invalid(`${what}: instance ${instance}, at most ${limits.instance}`);
      if (backupReplicas.length > 0) refuse(Code.Unimplemented, `${what}: backup replicas are not supported`);
      const text = `${port} ${instance}`;
      if (seen.has(text)) {
        invalid(`Duplicate replica in multicast group: port ${port}, instance ${instance} (${what})`);
      }
      seen.add(text);
      return { port, instance };
    });
  }
}

function set<Value>(map: Map<number, Value>, key: number, value: Value | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

function replicaMessage({ port, instance }: TargetReplica): Replica {
  return create(ReplicaSchema, { portKind: { case: 'port', value: shortestBytes(BigInt(port)) }, instance });
}
