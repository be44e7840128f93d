import type { Memory } from '../budget/memory.js';
import type { PacketState, PipelineCode } from '../compile/pipeline.js';

const NOTHING = /* @__PURE__ */ new Uint8Array(0);
const LEAST_BUFFER = 256;
/** Memory of a packet object in bytes, without the packet's own bytes. */
const PACKET_BYTES = 256;

/** `standard_metadata.instance_type`. */
export const INSTANCE = /* @__PURE__ */ Object.freeze({
  NORMAL: 0,
  INGRESS_CLONE: 1,
  EGRESS_CLONE: 2,
  COALESCED: 3,
  RECIRCULATED: 4,
  REPLICATION: 5,
  RESUBMITTED: 6,
} as const);

/** Headers and metadata of a waiting packet. Copies of one packet share it. */
export interface SharedState {
  readonly state: PacketState;
  users: number;
}

/**
 * A packet inside the switch, between two pipelines: in a queue, or on its way back to the parser. The comments tell
 * what a traffic manager may read and set; the rest belongs to the switch.
 */
export class InFlightPacket {
  /** Output queue. */
  port = 0;
  priority = 0;
  /** Length in bytes that the switch computes when the packet enters the queue. It is `packet_length` in egress. */
  length = 0;
  /** Time when it entered the queue, in microseconds since the switch began. */
  enqueueTimeUs = 0;
  /** Number of packets in its queue when it arrived. The manager sets it. */
  enqueueDepth = 0;
  /** Number of packets in its queue when it leaves. The manager sets it before `dequeue`. */
  dequeueDepth = 0;
  /** Reason why it goes back to the parser; `none` for a packet that waits for egress. */
  reentry: 'none' | 'resubmit' | 'recirculate' = 'none';

  /** @internal */ owner: CodePool | undefined = undefined;
  /** @internal */ shared: SharedState | undefined = undefined;
  /** @internal Payload, or the whole packet if it goes back to the parser. */ bytes: Uint8Array;
  /** @internal */ start = 0;
  /** @internal */ size = 0;
  /** @internal `bytes` belong to another owner, and stay unchanged while the packet lives. */ isLasting = false;
  /** @internal Received (or recirculated) length. */ receivedLength = 0;
  /** @internal */ instanceType = 0;
  /** @internal */ replicationId = 0;
  /** @internal Real ingress port. The program may see 0. */ ingressPort = 0;
  /** @internal -1: not cut. */ truncate = -1;
  /** @internal As in PacketRequests. */ recirculate = -1;
  /** @internal Field list to restore before the parser; -1 or -2: none. */ fieldList = -1;
  /** @internal */ passes = 0;
  #own: Uint8Array = NOTHING;

  constructor(readonly memory: Memory) {
    this.bytes = NOTHING;
  }

  /** @internal Refers to bytes that stay unchanged while the packet lives. */
  refer(bytes: Uint8Array, start: number, size: number): void {
    this.bytes = bytes;
    this.start = start;
    this.size = size;
    this.isLasting = true;
  }

  /** @internal Copies bytes into a buffer of its own. False if there is no memory for it. */
  keep(bytes: Uint8Array, start: number, size: number): boolean {
    if (this.#own.length < size) {
      const length = Math.max(size, 2 * this.#own.length, LEAST_BUFFER);
      if (!this.memory.take(length - this.#own.length)) return false;
      this.#own = new Uint8Array(length);
    }
    this.#own.set(bytes.subarray(start, start + size));
    this.bytes = this.#own;
    this.start = 0;
    this.size = size;
    this.isLasting = false;
    return true;
  }
}

/** A program's code, with a pool of states and packets to reuse. */
export class CodePool {
  readonly #packets: InFlightPacket[] = [];
  readonly #states: SharedState[] = [];
  /** No headers, metadata all zero. */
  readonly zero: PacketState;

  constructor(
    readonly code: PipelineCode,
    readonly memory: Memory,
  ) {
    code.reset();
    clearStandardMetadata(code);
    this.zero = code.createState();
    code.save(this.zero);
  }

  /** Saves the live headers and metadata; undefined if there is no memory. */
  save(): SharedState | undefined {
    const shared = this.#free();
    if (shared !== undefined) this.code.save(shared.state);
    return shared;
  }

  /** Saves only the live metadata. The headers in the result have no meaning. */
  saveMetadata(): SharedState | undefined {
    const shared = this.#free();
    if (shared !== undefined) this.code.saveMetadata(shared.state);
    return shared;
  }

  /** A packet without bytes; undefined if there is no memory for it. */
  packet(): InFlightPacket | undefined {
    let packet = this.#packets.pop();
    if (packet === undefined) {
      if (!this.memory.take(PACKET_BYTES)) return undefined;
      packet = new InFlightPacket(this.memory);
    }
    packet.owner = this;
    packet.enqueueDepth = 0;
    packet.dequeueDepth = 0;
    packet.reentry = 'none';
    packet.instanceType = 0;
    packet.replicationId = 0;
    packet.truncate = -1;
    packet.recirculate = -1;
    packet.fieldList = -1;
    return packet;
  }

  release(packet: InFlightPacket): void {
    if (packet.shared !== undefined) this.drop(packet.shared);
    packet.shared = undefined;
    packet.owner = undefined;
    this.#packets.push(packet);
  }

  drop(shared: SharedState): void {
    shared.users--;
    if (shared.users === 0) this.#states.push(shared);
  }

  #free(): SharedState | undefined {
    let shared = this.#states.pop();
    if (shared === undefined) {
      if (!this.memory.take(this.code.stateBytes)) return undefined;
      shared = { state: this.code.createState(), users: 1 };
    }
    shared.users = 1;
    return shared;
  }
}

/** All fields 0. */
export function clearStandardMetadata(code: PipelineCode): void {
  const standard = code.standardMetadata;
  standard.ingress_port = 0;
  standard.egress_spec = 0;
  standard.egress_port = 0;
  standard.instance_type = 0;
  standard.packet_length = 0;
  standard.enq_timestamp = 0;
  standard.enq_qdepth = 0;
  standard.deq_timedelta = 0;
  standard.deq_qdepth = 0;
  standard.ingress_global_timestamp = 0n;
  standard.egress_global_timestamp = 0n;
  standard.mcast_grp = 0;
  standard.egress_rid = 0;
  standard.checksum_error = 0;
  standard.parser_error = 0;
  standard.priority = 0;
}
