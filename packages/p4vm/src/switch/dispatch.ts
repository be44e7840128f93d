import type { Runtime } from '../machine/runtime.js';
import type { SwitchEnvironment, TrafficManager } from './environment.js';
import { PacketFifo } from './fifo.js';
import { type CodePool, INSTANCE, type InFlightPacket, type SharedState } from './in-flight.js';
import type { MirrorSession, Replica, Replication } from './replication.js';
import type { DropReason, SwitchStatistics } from './statistics.js';

/** Facts about the packet in the pipeline that neither its program nor the runtime holds. */
export interface CurrentPacket {
  /** The real ingress port. The program may see 0. */
  ingressPort: number;
  /** The value of `packet_length` in egress, in bytes. */
  length: number;
  /** Number of times that it or its originals went back to the parser or were cloned in egress. */
  passes: number;
  /** Length in bytes to cut it to; -1: no cut. */
  truncate: number;
  /** As in `PacketRequests`: requested in ingress, carried out at the end of egress. */
  recirculate: number;
  /** Its bytes stay unchanged until the packet and all its copies are done, so they need not be copied. */
  isLasting: boolean;
}

/** Moves packets between pipelines: into output queues, as copies and clones, and back to the parser. */
export class Dispatch {
  readonly toEgress = new PacketFifo();
  readonly toParser = new PacketFifo();
  readonly current: CurrentPacket = {
    ingressPort: 0,
    length: 0,
    passes: 0,
    truncate: -1,
    recirculate: -1,
    isLasting: false,
  };
  /** Packets go to egress at once, without the traffic manager. */
  isImmediate: boolean;

  readonly #runtime: Runtime;
  readonly #replication: Replication;
  readonly #statistics: SwitchStatistics;
  readonly #manager: TrafficManager | undefined;
  readonly #queues: number;

  constructor(
    runtime: Runtime,
    replication: Replication,
    statistics: SwitchStatistics,
    { trafficManager, priorityQueues = 1 }: SwitchEnvironment,
  ) {
    this.#runtime = runtime;
    this.#replication = replication;
    this.#statistics = statistics;
    this.#manager = trafficManager;
    this.#queues = priorityQueues;
    this.isImmediate = trafficManager === undefined;
  }

  /** Whether a packet may go on to egress at once, because no other waits before it. */
  isFree(port: number, priority: number): boolean {
    if (!this.toEgress.isEmpty || priority >= this.#queues) return false;
    return this.isImmediate || this.#manager?.pass?.(port, priority) === true;
  }

  /** Sets `isImmediate` as the environment demands. */
  restore(): void {
    this.isImmediate = this.#manager === undefined;
  }

  /** Counts a drop; `what` is for traces. */
  drop(reason: DropReason, what: string): void {
    this.#statistics.dropped[reason]++;
    this.#runtime.trace?.event({ kind: 'packet', what });
  }

  /** Counts a packet dropped for lack of memory. */
  dropForMemory(): void {
    this.drop('memory', 'dropped: no memory left for packets within the switch');
  }

  /** Sends a packet to the port that ingress chose. */
  unicast(pool: CodePool, kept: SharedState, priority: number, port: number): void {
    const packet = this.#queued(pool, kept, INSTANCE.NORMAL, priority);
    if (packet === undefined) return;
    packet.truncate = this.current.truncate;
    packet.recirculate = this.current.recirculate;
    this.#enqueue(packet, port);
  }

  /** Makes a copy for each port of a group. `maxBytes` above 0 cuts the copies. */
  multicast(
    pool: CodePool,
    group: number,
    kept: SharedState,
    instanceType: number,
    priority: number,
    maxBytes: number,
  ): void {
    const copies = this.#replication.copies(group);
    if (copies.length === 0) this.drop('emptyGroup', 'no copies: the multicast group has no ports');
    this.#copy(pool, copies, kept, instanceType, priority, maxBytes, `multicast group ${group}`);
  }

  /** Makes copies. `by` is for traces. */
  #copy(
    pool: CodePool,
    copies: readonly Replica[],
    kept: SharedState,
    instanceType: number,
    priority: number,
    maxBytes: number,
    by: string,
  ): void {
    const { trace, work } = this.#runtime;
    work.left -= copies.length;
    if (work.left < 0) {
      this.drop('steps', 'no copies: that takes more steps than one packet may');
      return;
    }
    for (const { port, replicationId } of copies) {
      const packet = this.#queued(pool, kept, instanceType, priority);
      if (packet === undefined) continue;
      packet.replicationId = replicationId;
      if (maxBytes > 0) packet.truncate = maxBytes;
      this.#statistics.multicastCopies++;
      if (trace !== undefined) {
        trace.event({ kind: 'packet', what: `copied by ${by}, replication id ${replicationId}` });
      }
      this.#enqueue(packet, port);
    }
  }

  /**
   * Sends the live headers with the listed metadata of `original` to a mirror session's port and group. This overwrites
   * the live metadata.
   */
  clone(
    pool: CodePool,
    { port, group, replicas, maxBytes = 0, priority: ofSession }: MirrorSession,
    original: SharedState,
    fieldList: number,
    instanceType: number,
  ): void {
    const { code } = pool;
    code.loadMetadata(pool.zero);
    if (fieldList >= 0) code.loadFieldList(fieldList, original.state);
    const priority = ofSession === undefined ? code.standardMetadata.priority : Math.min(ofSession, this.#queues - 1);
    const clone = pool.save();
    if (clone === undefined) {
      this.dropForMemory();
      return;
    }
    if (group !== undefined) this.multicast(pool, group, clone, instanceType, priority, maxBytes);
    if (replicas !== undefined) this.#copy(pool, replicas, clone, instanceType, priority, maxBytes, 'a mirror session');
    const packet = port === undefined ? undefined : this.#queued(pool, clone, instanceType, priority);
    if (packet !== undefined && port !== undefined) {
      if (maxBytes > 0) packet.truncate = maxBytes;
      this.#enqueue(packet, port);
    }
    pool.drop(clone);
  }

  /**
   * Sends a packet back to the parser. If `fieldList` is 0 or more, it keeps the fields of this list, whose values are
   * in `kept`.
   */
  goBack(
    pool: CodePool,
    reentry: 'resubmit' | 'recirculate',
    kept: SharedState | undefined,
    fieldList: number,
    bytes: Uint8Array,
    start: number,
    size: number,
    isLasting: boolean,
  ): void {
    const { current } = this;
    const packet = pool.packet();
    if (packet === undefined) {
      this.dropForMemory();
      return;
    }
    packet.reentry = reentry;
    if (fieldList >= 0 && kept !== undefined) {
      packet.shared = kept;
      kept.users++;
      packet.fieldList = fieldList;
    }
    packet.ingressPort = current.ingressPort;
    packet.receivedLength = size;
    packet.length = size;
    packet.passes = current.passes + 1;
    if (isLasting && this.isImmediate) packet.refer(bytes, start, size);
    else if (!packet.keep(bytes, start, size)) {
      pool.release(packet);
      this.dropForMemory();
      return;
    }
    const manager = this.isImmediate ? undefined : this.#manager;
    if (manager?.reenter === undefined) this.toParser.push(packet);
    else if (!manager.reenter(packet)) {
      pool.release(packet);
      this.drop('queueFull', 'dropped on its way back to the parser: no room');
    }
  }

  /**
   * Makes a packet for an output queue from a saved state and the runtime's payload. Drops it if there is no memory.
   */
  #queued(pool: CodePool, kept: SharedState, instanceType: number, priority: number): InFlightPacket | undefined {
    const { current } = this;
    const { payloadStart, payloadLength, input, packetLength } = this.#runtime;
    const packet = pool.packet();
    if (packet === undefined) {
      this.dropForMemory();
      return undefined;
    }
    packet.shared = kept;
    kept.users++;
    packet.instanceType = instanceType;
    packet.priority = priority;
    packet.length = current.length;
    packet.receivedLength = packetLength;
    packet.ingressPort = current.ingressPort;
    packet.passes = current.passes;
    if (current.isLasting && this.isImmediate) packet.refer(input.bytes, payloadStart, payloadLength);
    else if (!packet.keep(input.bytes, payloadStart, payloadLength)) {
      pool.release(packet);
      this.dropForMemory();
      return undefined;
    }
    return packet;
  }

  #enqueue(packet: InFlightPacket, port: number): void {
    const { trace, nowUs } = this.#runtime;
    packet.port = port;
    packet.enqueueTimeUs = nowUs;
    if (packet.priority >= this.#queues) this.drop('priority', 'dropped: there is no queue of its priority');
    else if (this.isImmediate) {
      packet.enqueueDepth = this.toEgress.waiting(port);
      if (trace !== undefined) trace.event({ kind: 'packet', what: `to the queue of port ${port}` });
      this.toEgress.push(packet);
      return;
    } else if (this.#manager?.enqueue(packet) === true) return;
    else this.drop('queueFull', 'dropped: the queue of its port is full');
    packet.owner?.release(packet);
  }
}
