/** Switches that speak INT: source, transit and sink, with telemetry reports. */
import { CodecError, type Hop, type SourceConfig, sink, source, type TransitConfig, transit } from '@int/codec';
import { updateChecksum } from '@int/codec/internals';
import { checkInteger } from '../checks.js';
import { destinationWord, isIpv4, udpFrame, uint16 } from '../frames.js';
import type { Node } from '../network-node.js';
import { checkMatch, type FlowMatch, matchesFlow } from './flow-match.js';
import { ForwardingSwitch } from './forwarding-switch.js';
import { DROP_REASON, ReportWriter } from './report-writer.js';

/** An entry of a flow watchlist: whose packets carry INT, and what it collects. */
export interface WatchRule {
  readonly match: FlowMatch;
  /** What the source inserts. `maxHops` bounds the stack; beyond it nodes set the E bit. */
  readonly int: SourceConfig;
  /** The source also sends an INT-XD report for 1 in so many of these packets, drawn at random. Default 0: none. */
  readonly postcardOneIn?: number;
}

/** An entry of a policy table: flows that do not follow the routes. */
export interface SteeringRule {
  readonly match: FlowMatch;
  readonly port: number;
}

export interface IntSwitchOptions {
  /** Node id in metadata and reports, 32 bits. */
  readonly nodeId: number;
  /** IPv4 address of the switch, a 32-bit word: reports come from it. */
  readonly address: number;
  /** IPv4 address of the monitor, a 32-bit word. */
  readonly monitorAddress: number;
  /** Port towards the monitor. Default: the route to `monitorAddress`. */
  readonly monitorPort?: number;
  /** UDP destination port of reports. Default: 32766. */
  readonly reportPort?: number;
  /** Ports that lead to hosts: INT begins and ends there. May be added to later. Default: none. */
  readonly edgePorts?: Iterable<number>;
  /** May be replaced later. Default: empty. */
  readonly watchlist?: readonly WatchRule[];
  /** How transit nodes find INT, and their MTU. What sources are told has to agree. Default: UDP port 5000 and so on. */
  readonly transit?: TransitConfig;
  /** Pipelines, 1 to 64: the hardware id of a report is the ingress port modulo this. Default: 1. */
  readonly pipes?: number;
  /** Sequence number of each hardware id's first report, 22 bits. Default: 0. */
  readonly firstSequence?: number;
  /** Occupancy of a queue, packets, from which reports have the Q bit. Default: never. */
  readonly congestedPackets?: number;
  /** Bytes of a packet, from Ethernet on, that its report carries at most, 64 to 9000; INT has up to 1100. Default: 1280. */
  readonly reportedBytes?: number;
}

/** What a switch has done with packets and reports. */
export interface IntCounters {
  /** Packets that INT was started on. */
  readonly started: number;
  /** Packets that metadata was pushed on, not by the source. */
  readonly pushed: number;
  /** Packets that INT was taken out of: as many INT-MD reports. */
  readonly stripped: number;
  readonly postcards: number;
  /** Packets dropped because the time to live was used up: as many drop reports, if they were watched. */
  readonly expired: number;
  /** Packets of `discards`, dropped without a word. */
  readonly discarded: number;
  /** Packets with INT that is cut or not sound; passed on as they are. */
  readonly unsound: number;
  /** Reports sent: INT-MD, postcards and drops. */
  readonly reports: number;
}

/** Items that a report's own metadata can have here: interfaces, latency, queue, timestamps (the same bits as in INT). */
const REPORT_BITS = 0x7c00;
/** Of a dropped packet the way out is not known. */
const DROP_BITS = 0x4800;
const DROP_WORD = 0x0001;

const TTL_AT = 22;
const NO_PACKET = /* @__PURE__ */ new Uint8Array(0);

/** Counts down the time to live of a frame that is the switch's own, checksum included (RFC 1624). */
function countDown(frame: Uint8Array): void {
  const before = uint16(frame, TTL_AT);
  const checksum = updateChecksum(uint16(frame, TTL_AT + 2), before, before - 0x100);
  frame[TTL_AT] = frame[TTL_AT]! - 1;
  frame[TTL_AT + 2] = checksum >>> 8;
  frame[TTL_AT + 3] = checksum;
}

/** @throws RangeError for a rule that no packet could be treated by */
function checkRule({ match, int, postcardOneIn }: WatchRule): void {
  checkMatch(match);
  if (postcardOneIn !== undefined) checkInteger('postcardOneIn', postcardOneIn, 0);
  try {
    source(NO_PACKET, int);
  } catch (error) {
    // The configuration is looked at first, the packet, which is none, afterwards.
    if (!CodecError.is(error)) throw error;
  }
}

/**
 * Forwards by IPv4 destination like a router, and takes part in INT (INT v2.1, telemetry report v2.0).
 *
 * - A packet that comes in by an edge port and is on the watchlist gets INT, with this node's metadata (source).
 * - A packet with INT that came from another switch gets this node's metadata (transit).
 * - A packet with INT that leaves by an edge port loses it; the packet as it was goes on, and what was collected goes to the
 *   monitor as an INT-MD report: the packet with its stack, this node's block on top (sink).
 * - A packet whose time to live is used up, or that has no route, is dropped. If it carries INT a drop report says so, with
 *   the stack it had: the way it came.
 *
 * Metadata: interfaces are port numbers. The queue is the one in front of the egress port's link: its id is the port (8 bits),
 * its occupancy counts packets that wait (links with `queuePackets` only), and the hop latency is how long this packet waits
 * in it, nanoseconds. Timestamps are the node's clock. Items that a switch has not got are written as not available.
 *
 * Sequence numbers are per hardware id; a switch that fails begins again with the first one.
 */
export class IntSwitch extends ForwardingSwitch implements IntCounters {
  readonly nodeId: number;
  readonly address: number;
  readonly edgePorts: Set<number>;
  watchlist: readonly WatchRule[];
  /**
   * Flows whose packets vanish here, as by a damaged forwarding entry: no report, no counter but `discarded`. By the headers
   * as they are, which inside the network means INT's destination port.
   */
  discards: readonly FlowMatch[] = [];
  /** Flows that leave by a port of their own, whatever the routes say: the first that matches, as for `discards`. */
  steering: readonly SteeringRule[] = [];
  started = 0;
  pushed = 0;
  stripped = 0;
  postcards = 0;
  expired = 0;
  discarded = 0;
  unsound = 0;
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

  /** The packet as it leaves, a new array; null if it ends here. */
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
