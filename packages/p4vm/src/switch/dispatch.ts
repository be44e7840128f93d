import type { Runtime } from '../machine/runtime.js';
import type { SwitchEnvironment, TrafficManager } from './environment.js';
import { PacketFifo } from './fifo.js';
import { type CodePool, INSTANCE, type InFlightPacket, type SharedState } from './in-flight.js';
import type { MirrorSession, Replication } from './replication.js';
import type { DropReason, SwitchStatistics } from './statistics.js';

/** Of the packet in the pipeline, what neither its program nor the runtime holds. */
export interface CurrentPacket {
  /** The real one; what the program sees may be 0. */
  ingressPort: number;
  /** What `packet_length` shows in egress. */
  length: number;
  /** How often it, or what it was made of, went back or was cloned in egress. */
  passes: number;
  /** Bytes to cut it to; -1: not. */
  truncate: number;
  /** As in `PacketRequests`: asked for in ingress, done at the end of egress. */
  recirculate: number;
  /** Its bytes stay as they are until all that comes of the packet is done: they need not be copied. */
  isLasting: boolean;
}

/** Where packets go between pipelines: into output queues, as copies and clones, and back to the parser. */
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
  /** Packets go to egress at once, whatever the traffic manager. */
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

  /** Whether a packet may go on to egress where it is, as nothing waits before it. */
  isFree(priority: number): boolean {
    return this.isImmediate && this.toEgress.isEmpty && priority < this.#queues;
  }

  /** Immediate or not as the environment says. */
  restore(): void {
    this.isImmediate = this.#manager === undefined;
  }

  /** Counts a drop; `what` is for traces. */
  drop(reason: DropReason, what: string): void {
    this.#statistics.dropped[reason]++;
    this.#runtime.trace?.event({ kind: 'packet', what });
  }

  /** Counts a packet that there is no memory for. */
  dropForMemory(): void {
    this.drop('memory', 'dropped: no memory left for packets within the switch');
  }

  /** Ingress has chosen a port. */
  unicast(pool: CodePool, kept: SharedState, priority: number, port: number): void {
    const packet = this.#queued(pool, kept, INSTANCE.NORMAL, priority);
    if (packet === undefined) return;
    packet.truncate = this.current.truncate;
    packet.recirculate = this.current.recirculate;
    this.#enqueue(packet, port);
  }

  /** A copy for each port of a group. `maxBytes` above 0 cuts them. */
  multicast(
    pool: CodePool,
    group: number,
    kept: SharedState,
    instanceType: number,
    priority: number,
    maxBytes: number,
  ): void {
    const { trace, work } = this.#runtime;
    const copies = this.#replication.copies(group);
    work.left -= copies.length;
    if (work.left < 0) {
      this.drop('steps', 'no copies: that takes more steps than one packet may');
      return;
    }
    if (copies.length === 0) this.drop('emptyGroup', 'no copies: the multicast group has no ports');
    for (const { port, replicationId } of copies) {
      const packet = this.#queued(pool, kept, instanceType, priority);
      if (packet === undefined) continue;
      packet.replicationId = replicationId;
      if (maxBytes > 0) packet.truncate = maxBytes;
      this.#statistics.multicastCopies++;
      if (trace !== undefined) {
        trace.event({ kind: 'packet', what: `copied by multicast group ${group}, replication id ${replicationId}` });
      }
      this.#enqueue(packet, port);
    }
  }

  /**
   * Sends the headers that are live with the listed metadata of `original` to a mirror session's port and group. The
   * metadata that is live is another then.
   */
  clone(
    pool: CodePool,
    { port, group, maxBytes = 0 }: MirrorSession,
    original: SharedState,
    fieldList: number,
    instanceType: number,
  ): void {
    const { code } = pool;
    code.loadMetadata(pool.zero);
    if (fieldList >= 0) code.loadFieldList(fieldList, original.state);
    const { priority } = code.standardMetadata;
    const clone = pool.save();
    if (clone === undefined) {
      this.dropForMemory();
      return;
    }
    if (group !== undefined) this.multicast(pool, group, clone, instanceType, priority, maxBytes);
    const packet = port === undefined ? undefined : this.#queued(pool, clone, instanceType, priority);
    if (packet !== undefined && port !== undefined) {
      if (maxBytes > 0) packet.truncate = maxBytes;
      this.#enqueue(packet, port);
    }
    pool.drop(clone);
  }

  /** A packet goes back to the parser, with the fields of a list (`kept` has them) if `fieldList` is 0 or more. */
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

  /** A packet for an output queue, of a saved state and the payload as the runtime has it. Without memory it is dropped. */
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
