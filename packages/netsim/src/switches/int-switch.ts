/** INT switches: source, transit and sink, with telemetry reports. */
import { CodecError, type Hop, type SourceConfig, sink, source, type TransitConfig, transit } from '@int/codec';
import { updateChecksum } from '@int/codec/internals';
import { checkInteger } from '../checks.js';
import { destinationWord, isIpv4, udpFrame, uint16 } from '../frames.js';
import type { Node } from '../network-node.js';
import { checkMatch, type FlowMatch, matchesFlow } from './flow-match.js';
import { ForwardingSwitch } from './forwarding-switch.js';
import { DROP_REASON, ReportWriter } from './report-writer.js';

/** An entry of a flow watchlist: the flows that get INT, and its instructions. */
export interface WatchRule {
  readonly match: FlowMatch;
  /** The INT headers that the source inserts. `maxHops` bounds the stack; beyond it nodes set the E bit. */
  readonly int: SourceConfig;
  /** The source also sends an INT-XD report for one random packet in this number. Default 0: none. */
  readonly postcardOneIn?: number;
}

/** An entry of a policy table, for flows that do not follow the routes. */
export interface SteeringRule {
  readonly match: FlowMatch;
  readonly port: number;
}

export interface IntSwitchOptions {
  /** Node id in metadata and reports, 32 bits. */
  readonly nodeId: number;
  /** IPv4 address of the switch, a 32-bit word: the source of reports. */
  readonly address: number;
  /** IPv4 address of the monitor, a 32-bit word. */
  readonly monitorAddress: number;
  /** Port towards the monitor. Default: the route to `monitorAddress`. */
  readonly monitorPort?: number;
  /** UDP destination port of reports. Default: 32766. */
  readonly reportPort?: number;
  /** Ports towards hosts, at which INT begins and ends. More can be added later. Default: none. */
  readonly edgePorts?: Iterable<number>;
  /** The flow watchlist, which can be replaced later. Default: empty. */
  readonly watchlist?: readonly WatchRule[];
  /**
   * The marks of INT for transit nodes, and their MTU. The sources' settings must agree. Default: UDP port 5000 and so
   * on.
   */
  readonly transit?: TransitConfig;
  /** Pipelines, 1 to 64: the hardware id of a report is the ingress port modulo this. Default: 1. */
  readonly pipes?: number;
  /** Sequence number of each hardware id's first report, 22 bits. Default: 0. */
  readonly firstSequence?: number;
  /** Queue occupancy in packets from which reports have the Q bit. Default: never. */
  readonly congestedPackets?: number;
  /** Most bytes of a packet in its report, from Ethernet on, 64 to 9000. INT has up to 1100. Default: 1280. */
  readonly reportedBytes?: number;
}

/** Items possible in a report's own metadata: interfaces, latency, queue, timestamps (the same bits as in INT). */
const REPORT_BITS = 0x7c00;
/** A dropped packet has no known egress. */
const DROP_BITS = 0x4800;
const DROP_WORD = 0x0001;

const TTL_AT = 22;
const NO_PACKET = /* @__PURE__ */ new Uint8Array(0);

/** Decrements the time to live of a frame that the switch owns, and updates the checksum (RFC 1624). */
function countDown(frame: Uint8Array): void {
  const before = uint16(frame, TTL_AT);
  const checksum = updateChecksum(uint16(frame, TTL_AT + 2), before, before - 0x100);
  frame[TTL_AT] = frame[TTL_AT]! - 1;
  frame[TTL_AT + 2] = checksum >>> 8;
  frame[TTL_AT + 3] = checksum;
}

/** @throws RangeError for a rule that fits no packet */
function checkRule({ match, int, postcardOneIn }: WatchRule): void {
  checkMatch(match);
  if (postcardOneIn !== undefined) checkInteger('postcardOneIn', postcardOneIn, 0);
  try {
    source(NO_PACKET, int);
  } catch (error) {
    // `source` checks the configuration before the packet, which is empty here.
    if (!CodecError.is(error)) throw error;
  }
}

/**
 * Forwards by IPv4 destination like a router, and takes part in INT (INT v2.1, telemetry report v2.0).
 *
 * - A watched packet that arrives at an edge port gets INT with this node's metadata (source).
 * - A packet with INT from another switch gets this node's metadata (transit).
 * - A packet with INT that leaves by an edge port loses INT. The original packet goes on, and the monitor gets an
 *   INT-MD report: the packet with its stack, this node's block on top (sink).
 * - A packet without time to live or without a route is dropped. If it carries INT, a drop report follows, with the
 *   stack, which shows its path.
 *
 * Metadata: interfaces are port numbers. The queue is that of the egress port's link: its id is the port (8 bits), and
 * its occupancy counts waiting packets (only for links with `queuePackets`). The hop latency is the packet's waiting
 * time in it, nanoseconds. Timestamps are the node's clock. Missing items are written as not available.
 *
 * Sequence numbers are per hardware id. After a failure the switch starts with the first one again.
 */
export class IntSwitch extends ForwardingSwitch {
  readonly nodeId: number;
  readonly address: number;
  readonly edgePorts: Set<number>;
  watchlist: readonly WatchRule[];
  /**
   * Flows whose packets vanish here, as by a damaged forwarding entry: without a report, and counted only in
   * `discarded`. They are matched by their present headers: inside the network the destination port may be INT's.
   */
  discards: readonly FlowMatch[] = [];
  /**
   * Flows that leave by a fixed port and ignore the routes. The first match counts. Flows are matched as for
   * `discards`.
   */
  steering: readonly SteeringRule[] = [];
  /** Packets that got INT here as at a source. */
  started = 0;
  /** Packets that got metadata here as at a transit node or sink. */
  pushed = 0;
  /** Packets from which INT was removed. Each makes an INT-MD report. */
  stripped = 0;
  postcards = 0;
  /** Packets dropped at the end of their time to live. Each watched one makes a drop report. */
  expired = 0;
  /** Packets of `discards`, dropped without a report. */
  discarded = 0;
  /** Packets with truncated or invalid INT, passed on unchanged. */
  unsound = 0;
  /** Reports sent: INT-MD, postcards and drops. */
  reports = 0;
  readonly #monitorAddress: number;
  readonly #monitorPort: number;
  readonly #reportPort: number;
  readonly #transitConfig: TransitConfig;
  readonly #pipes: number;
  readonly #firstSequence: number;
  readonly #congestedPackets: number;
  readonly #reportedBytes: number;
  #writer: ReportWriter;

  /** @throws RangeError for an option out of range */
  constructor(options: IntSwitchOptions) {
    super();
    this.nodeId = checkInteger('nodeId', options.nodeId, 0, 0xffff_ffff);
    this.address = options.address >>> 0;
    this.#monitorAddress = options.monitorAddress >>> 0;
    this.#monitorPort =
      options.monitorPort === undefined ? -1 : checkInteger('monitorPort', options.monitorPort, 0, 0xffff);
    this.#reportPort = checkInteger('reportPort', options.reportPort ?? 32_766, 0, 0xffff);
    this.edgePorts = new Set(options.edgePorts);
    this.watchlist = options.watchlist ?? [];
    for (const rule of this.watchlist) checkRule(rule);
    this.#transitConfig = options.transit ?? {};
    this.#pipes = checkInteger('pipes', options.pipes ?? 1, 1, 64);
    this.#firstSequence = checkInteger('firstSequence', options.firstSequence ?? 0, 0, 0x3f_ffff);
    this.#congestedPackets = options.congestedPackets ?? Number.POSITIVE_INFINITY;
    this.#reportedBytes = checkInteger('reportedBytes', options.reportedBytes ?? 1280, 64, 9000);
    this.#writer = new ReportWriter(this.nodeId, this.#pipes, this.#firstSequence);
  }

  fail(): void {
    this.#writer = new ReportWriter(this.nodeId, this.#pipes, this.#firstSequence);
  }

  override receive(frame: Uint8Array, port: number, node: Node): void {
    this.count(port);
    if (!isIpv4(frame)) {
      this.unroutable++;
      return;
    }
    if (this.discards.some((match) => matchesFlow(match, frame))) {
      this.discarded++;
      return;
    }
    const steered = this.steering.find(({ match }) => matchesFlow(match, frame));
    const out = steered?.port ?? this.routes.lookup(destinationWord(frame));
    if (out < 0) {
      this.unroutable++;
      this.#reportDrop(frame, port, DROP_REASON.NO_ROUTE, node);
      return;
    }
    if (frame[TTL_AT]! <= 1) {
      this.expired++;
      this.#reportDrop(frame, port, DROP_REASON.TTL, node);
      return;
    }
    const packet = this.#telemeter(frame, port, out, node);
    if (packet === null) return;
    countDown(packet);
    this.forwarded++;
    node.send(out, packet);
  }

  /** The outgoing packet in a new array; null if the packet ends here. */
  #telemeter(frame: Uint8Array, port: number, out: number, node: Node): Uint8Array | null {
    const isFromEdge = this.edgePorts.has(port);
    const rule = isFromEdge ? this.watchlist.find(({ match }) => matchesFlow(match, frame)) : undefined;
    if (isFromEdge && rule === undefined) return frame.slice();
    const hop = this.#hopOf(port, out, node);
    try {
      const packet = rule === undefined ? this.#passOn(frame, hop) : this.#begin(frame, rule, hop, port, node);
      return this.edgePorts.has(out) ? this.#end(packet, hop, port, node) : packet;
    } catch (error) {
      if (!CodecError.is(error)) throw error;
      this.unsound++;
      return frame.slice();
    }
  }

  #begin(frame: Uint8Array, rule: WatchRule, hop: Hop, port: number, node: Node): Uint8Array {
    const { packet, started } = source(frame, rule.int, hop);
    if (started) this.started++;
    const { postcardOneIn = 0 } = rule;
    if (postcardOneIn > 0 && (postcardOneIn === 1 || node.random.integer(postcardOneIn) === 0)) {
      this.postcards++;
      const bits = rule.int.instructions & REPORT_BITS;
      this.#report(frame, port, hop, bits, null, node);
    }
    return packet;
  }

  #passOn(frame: Uint8Array, hop: Hop): Uint8Array {
    const { packet, pushed } = transit(frame, this.#transitConfig, hop);
    if (pushed) this.pushed++;
    return packet;
  }

  #end(packet: Uint8Array, hop: Hop, port: number, node: Node): Uint8Array | null {
    const found = sink(packet, this.#transitConfig);
    if (found.int === null) return packet;
    this.stripped++;
    this.#report(packet, port, hop, 0, null, node);
    return found.packet;
  }

  #reportDrop(frame: Uint8Array, port: number, reason: number, node: Node): void {
    const hop: Hop = { l1IngressInterface: port & 0xffff, l1EgressInterface: null };
    let instructions = 0;
    if (this.edgePorts.has(port)) {
      const rule = this.watchlist.find(({ match }) => matchesFlow(match, frame));
      if (rule === undefined) return;
      instructions = rule.int.instructions;
    } else {
      try {
        const { record } = sink(frame, this.#transitConfig);
        if (record === null || record.int === null || record.int.mode === 'gpint') return;
        instructions = record.int.instructionBitmap;
      } catch (error) {
        if (!CodecError.is(error)) throw error;
        this.unsound++;
        return;
      }
    }
    hop.ingressTimestamp = BigInt(Math.max(0, node.clockNs));
    this.#report(frame, port, hop, (instructions & DROP_BITS) | DROP_WORD, reason, node);
  }

  #report(packet: Uint8Array, port: number, metadata: Hop, bits: number, dropReason: number | null, node: Node): void {
    this.reports++;
    const queueCongested = (metadata.queueOccupancy ?? 0) >= this.#congestedPackets;
    const carried = packet.subarray(0, this.#reportedBytes);
    const payload = this.#writer.write(carried, port % this.#pipes, { metadata, bits, dropReason, queueCongested });
    const addresses = { source: this.address, destination: this.#monitorAddress };
    const datagram = udpFrame(
      { ...addresses, sourcePort: this.#reportPort, destinationPort: this.#reportPort },
      payload,
    );
    const out = this.#monitorPort >= 0 ? this.#monitorPort : this.routes.lookup(this.#monitorAddress);
    if (out >= 0) node.send(out, datagram);
  }

  #hopOf(port: number, out: number, node: Node): Hop {
    const output = node.output(out);
    const waitNs = Math.min(output?.waitNs ?? 0, 0xffff_fffe);
    const nowNs = BigInt(Math.max(0, node.clockNs));
    return {
      nodeId: this.nodeId,
      l1IngressInterface: port & 0xffff,
      l1EgressInterface: out & 0xffff,
      hopLatency: Math.round(waitNs),
      queueId: out & 0xff,
      queueOccupancy: Math.min(output?.queued ?? 0, 0xff_fffe),
      ingressTimestamp: nowNs,
      egressTimestamp: nowNs + BigInt(Math.round(waitNs)),
    };
  }
}
