import { refuse } from '../tables/control-error.js';
import { LowestFree } from '../tables/lowest-free.js';
import type { TrafficManager } from './environment.js';

/** One copy that multicast makes. */
export interface Replica {
  readonly port: number;
  readonly replicationId: number;
}

/** The destination of a session's clones. */
export interface MirrorSession {
  readonly port?: number;
  readonly group?: number;
  /** Copies beside those of `port` and `group`. */
  readonly replicas?: readonly Replica[];
  /** Priority of the clones, at most that of the last queue; absent: that of their metadata. */
  readonly priority?: number;
  /** Largest length of a clone in bytes; 0 or absent: no limit. */
  readonly maxBytes?: number;
}

/** The configuration of a multicast group. */
export interface MulticastGroup {
  readonly group: number;
  /** In the order of their association. */
  readonly nodes: readonly {
    readonly handle: number;
    readonly replicationId: number;
    readonly ports: readonly number[];
    readonly lags: readonly number[];
  }[];
}

interface GroupNode {
  readonly replicationId: number;
  ports: readonly number[];
  lags: readonly number[];
  /** -1: of no group. */
  group: number;
}

const MAX_SESSION = 0x7fff;
/** `mcast_grp` has 16 bits. */
const MAX_GROUP = 0xffff;
const MAX_PLACES = 1_000_000;
const NO_COPIES: readonly Replica[] = /* @__PURE__ */ Object.freeze([]);

/** Selects the port of a LAG, modulo its number of ports. No hash of the packet is computed. */
const LAG_HASH = 0xff;

/**
 * Mirror sessions and multicast groups. A group has nodes; a node has a replication id and ports. Copies are made in
 * the order in which nodes were associated. Within a node they are made by ascending port, then for its LAGs.
 */
export class Replication {
  readonly #sessions = new Map<number, MirrorSession>();
  readonly #groups = new Map<number, number[]>();
  readonly #nodes = new Map<number, GroupNode>();
  readonly #lags = new Map<number, readonly number[]>();
  readonly #copies = new Map<number, readonly Replica[]>();
  readonly #handles = new LowestFree();
  /** Number of ports and LAGs of all nodes, and of LAGs with their ports. */
  #places = 0;

  /** @param queues receives the settings of queues */
  constructor(readonly queues: Pick<TrafficManager, 'setQueueDepth' | 'setQueueRate'> = {}) {}

  /**
   * Sends clones of a session to a port, or with `group` to a multicast group.
   *
   * @throws ControlError `ERR_CONTROL_BAD_SESSION` unless the session is 0 to 32767
   */
  setMirror(session: number, destination: MirrorSession): void {
    if (!Number.isInteger(session) || session < 0 || session > MAX_SESSION)
      refuse('ERR_CONTROL_BAD_SESSION', `mirror session ${session}: 0 to ${MAX_SESSION}`);
    this.#sessions.set(session, { ...destination });
  }

  /** Returns false if there was none. */
  deleteMirror(session: number): boolean {
    return this.#sessions.delete(session);
  }

  /** Sessions in ascending order. */
  mirrors(): readonly (readonly [session: number, destination: MirrorSession])[] {
    return [...this.#sessions].sort(([a], [b]) => a - b);
  }

  mirror(session: number): MirrorSession | undefined {
    return this.#sessions.get(session);
  }

  /**
   * Makes a group. As in simple_switch_CLI, groups and nodes are made separately, then associated.
   *
   * @returns false for a number outside of 0 to 65535; true also for an existing group, which stays unchanged
   */
  createGroup(group: number): boolean {
    if (!Number.isInteger(group) || group < 0 || group > MAX_GROUP) return false;
    if (!this.#groups.has(group)) this.#groups.set(group, []);
    this.#copies.clear();
    return true;
  }

  /** Its nodes stay, and stay associated: dissociate or destroy them before they can join another group. */
  destroyGroup(group: number): boolean {
    this.#copies.clear();
    return this.#groups.delete(group);
  }

  /**
   * Makes a node and returns its handle.
   *
   * @throws ControlError `ERR_CONTROL_NO_ROOM` for more than 65,536 nodes, or a million ports in all nodes and LAGs
   */
  createNode(replicationId: number, ports: readonly number[], lags: readonly number[] = []): number {
    if (this.#nodes.size > MAX_GROUP) refuse('ERR_CONTROL_NO_ROOM', `there are ${this.#nodes.size} nodes already`);
    const node: GroupNode = { replicationId: replicationId & 0xffff, ports: [], lags: [], group: -1 };
    this.#place(node, ports, lags);
    // The lowest free handle: handles of destroyed nodes are reused.
    const handle = this.#handles.take();
    this.#nodes.set(handle, node);
    return handle;
  }

  updateNode(handle: number, ports: readonly number[], lags: readonly number[] = []): boolean {
    const node = this.#nodes.get(handle);
    if (node === undefined) return false;
    this.#place(node, ports, lags);
    this.#copies.clear();
    return true;
  }

  destroyNode(handle: number): boolean {
    const node = this.#nodes.get(handle);
    if (node === undefined) return false;
    this.#remove(node.group, handle);
    this.#place(node, [], []);
    this.#nodes.delete(handle);
    this.#handles.release(handle);
    return true;
  }

  associateNode(group: number, handle: number): boolean {
    const node = this.#nodes.get(handle);
    const members = this.#groups.get(group);
    if (node === undefined || members === undefined || node.group !== -1) return false;
    members.push(handle);
    node.group = group;
    this.#copies.clear();
    return true;
  }

  dissociateNode(group: number, handle: number): boolean {
    const node = this.#nodes.get(handle);
    if (node === undefined || node.group !== group || !this.#groups.has(group)) return false;
    this.#remove(group, handle);
    node.group = -1;
    return true;
  }

  /** Sets the ports of a link aggregation group. @throws ControlError `ERR_CONTROL_NO_ROOM` as for nodes */
  setLagMembership(lag: number, ports: readonly number[]): void {
    const before = this.#lags.get(lag);
    const members = ascending(ports);
    this.#takePlaces(1 + members.length - (before === undefined ? 0 : 1 + before.length));
    this.#lags.set(lag, members);
    this.#copies.clear();
  }

  hasGroup(group: number): boolean {
    return this.#groups.has(group);
  }

  hasNode(handle: number): boolean {
    return this.#nodes.has(handle);
  }

  /** Removes all groups and nodes; mirror sessions and LAGs stay. */
  resetMulticast(): void {
    this.#groups.clear();
    for (const { ports, lags } of this.#nodes.values()) this.#places -= ports.length + lags.length;
    this.#nodes.clear();
    this.#handles.clear();
    this.#copies.clear();
  }

  /** Removes mirror sessions, groups, nodes and LAGs. */
  reset(): void {
    this.resetMulticast();
    this.#sessions.clear();
    this.#lags.clear();
    this.#places = 0;
  }

  setQueueDepth(packets: number, port?: number, priority?: number): void {
    this.queues.setQueueDepth?.(packets, port, priority);
  }

  /** @param rate packets per second */
  setQueueRate(rate: number, port?: number, priority?: number): void {
    this.queues.setQueueRate?.(rate, port, priority);
  }

  /** The copies of a packet to a group. Do not change the list. */
  copies(group: number): readonly Replica[] {
    let copies = this.#copies.get(group);
    if (copies === undefined) {
      copies = this.#expand(group);
      this.#copies.set(group, copies);
    }
    return copies;
  }

  /** Groups in ascending order. */
  multicastGroups(): readonly MulticastGroup[] {
    return [...this.#groups.keys()].sort((a, b) => a - b).map((group) => ({ group, nodes: this.nodesOf(group) ?? [] }));
  }

  /** The nodes of a group; undefined if there is no such group. */
  nodesOf(group: number): MulticastGroup['nodes'] | undefined {
    return this.#groups.get(group)?.flatMap((handle) => {
      const node = this.#nodes.get(handle);
      if (node === undefined) return [];
      const { replicationId, ports, lags } = node;
      return [{ handle, replicationId, ports, lags }];
    });
  }

  #place(node: GroupNode, ports: readonly number[], lags: readonly number[]): void {
    const [all, groups] = [ascending(ports), ascending(lags)];
    this.#takePlaces(all.length + groups.length - node.ports.length - node.lags.length);
    node.ports = all;
    node.lags = groups;
  }

  #takePlaces(count: number): void {
    const places = this.#places + count;
    if (places > MAX_PLACES) refuse('ERR_CONTROL_NO_ROOM', `more than ${MAX_PLACES} ports of nodes and LAGs`);
    this.#places = places;
  }

  #remove(group: number, handle: number): void {
    const members = this.#groups.get(group);
    const at = members?.indexOf(handle) ?? -1;
    if (at >= 0) members?.splice(at, 1);
    this.#copies.clear();
  }

  #expand(group: number): readonly Replica[] {
    const members = this.#groups.get(group);
    if (members === undefined) return NO_COPIES;
    const copies: Replica[] = [];
    for (const handle of members) {
      const node = this.#nodes.get(handle);
      if (node === undefined) continue;
      const { replicationId } = node;
      for (const port of node.ports) copies.push({ port, replicationId });
      for (const lag of node.lags) {
        const ports = this.#lags.get(lag) ?? [];
        const port = ports[LAG_HASH % Math.max(1, ports.length)];
        if (port !== undefined) copies.push({ port, replicationId });
      }
    }
    return copies;
  }
}

function ascending(ports: readonly number[]): readonly number[] {
  return [...new Set(ports)].sort((a, b) => a - b);
}
