import { FLAG, type TelemetryBatch } from '@int/codec';
import { Contacts } from './contacts.js';
import type { Destinations } from './flood/destinations.js';
import type { TrafficSignature } from './flood/signature.js';
import { Edges } from './hosts/edges.js';
import { Inside } from './hosts/inside.js';
import { Pairs } from './hosts/pairs.js';
import type { Incidents } from './incident/incidents.js';
import type { Paths } from './network/paths.js';
import { type ConnectionObservation, frameTimeMs } from './observation.js';
import type { Capacity, Settings } from './options.js';
import { type PacketReader, PROTOCOL, TCP } from './packet/packet.js';
import { REST, ReportPackets } from './packet/report-packets.js';
import { FailedTargets } from './scan/failed-targets.js';
import { Sources } from './scan/sources.js';
import { addressText, writeAddress } from './table/address.js';
import { FLOW_STATE, FlowTable, TOGETHER } from './table/flows.js';
import { hashOf } from './table/keys.js';

const { BEGUN, ANSWERED, ESTABLISHED, WAITING, CLOSED, OUTWARD } = FLOW_STATE;
/** A flow that was silent for longer begins anew. */
const SILENT_SECONDS = 600;
/** One report in so many tells the path to its destination. */
const PATH_EVERY = 8;
/** Packets of a connection of a flow log that count at most. */
const MOST_PACKETS = 1e6;

/** Who talks to whom: who began, who answered, and how much was sent. What packets say to the detectors of hosts. */
export class Connections {
  readonly flows: FlowTable;
  readonly contacts: Contacts;
  readonly sources: Sources;
  readonly pairs: Pairs;
  readonly failedTargets: FailedTargets;
  /** Packets and reports that were taken. */
  packets = 0;
  reports = 0;
  readonly #settings: Settings;
  readonly #inside: Inside;
  readonly #destinations: Destinations;
  readonly #signature: TrafficSignature;
  readonly #paths: Paths;
  readonly #edges: Edges;
  readonly #reported = new ReportPackets();
  readonly #words = new Uint32Array(8);
  /** The second that is open, as an integer of 32 bits. */
  #second = 0;

  constructor(
    settings: Settings,
    incidents: Incidents,
    destinations: Destinations,
    signature: TrafficSignature,
    paths: Paths,
  ) {
    this.#settings = settings;
    this.#destinations = destinations;
    this.#signature = signature;
    this.#paths = paths;
    this.#inside = new Inside(settings.inside);
    this.#edges = new Edges(settings, incidents);
    this.flows = new FlowTable(settings.capacity.flows);
    this.contacts = new Contacts(this.flows, (flow, timeMs) => this.#failed(flow, timeMs));
    this.sources = new Sources(settings, incidents);
    this.pairs = new Pairs(settings, incidents);
    this.failedTargets = new FailedTargets(incidents);
  }

  static byteLength({ flows, sources, pairs }: Capacity): number {
    return (
      FlowTable.byteLength(flows) +
      Contacts.BYTES +
      Sources.byteLength(sources) +
      Pairs.byteLength(pairs) +
      Edges.BYTES +
      FailedTargets.BYTES
    );
  }

  /** A second begins: contacts fail whose time to be answered is over. */
  advance(timeMs: number): void {
    this.contacts.advance(timeMs);
    this.#second = Math.floor(timeMs / 1000) | 0;
  }

  /**
   * Takes the packets of reports without an error, all of one second.
   * @param untimedMs the time of frames that have none
   */
  observe(batch: TelemetryBatch, from: number, to: number, untimedMs: number): void {
    const { flows } = this;
    const { located } = flows;
    this.#reported.open(batch);
    for (let start = from; start < to; start += TOGETHER) {
      const end = Math.min(to, start + TOGETHER);
      flows.locate(batch, start, end);
      const { replaced } = flows;
      for (let row = start; row < end; row++) {
        if (batch.code[row] !== 0) continue;
        this.reports++;
        const flags = batch.flags[row]!;
        if ((flags & FLAG.FLOW) === 0) continue;
        const rest = this.#reported.rest(batch, row);
        const isLocated = (flags & FLAG.IPV6) === 0 && flows.replaced === replaced;
        const found = isLocated ? located[row - start]! : -1;
        const destination =
          found < 0 || this.#isOver(found >> 1, batch.protocol[row]!, rest & REST.FLAGS)
            ? this.packet(this.#reported.read(batch, row, rest), frameTimeMs(batch, batch.frame[row]!, untimedMs))
            : this.#known(batch, row, found, rest, row - start, untimedMs);
        if (destination >= 0 && this.reports % PATH_EVERY === 0) this.#paths.report(destination, batch, row);
      }
    }
  }

  /**
   * Takes a packet.
   * @returns the row of the flow's destination if the packet goes there, else -1
   */
  packet(packet: PacketReader, timeMs: number): number {
    this.packets++;
    const { words, ports, protocol, flags } = packet;
    const { flows } = this;
    let flow = flows.find(words, ports, protocol);
    let isForward = flows.isForward;
    if (flow < 0) {
      flow = flows.insert(words, ports, protocol, this.#second);
      isForward = true;
      this.#begin(flow, packet, timeMs);
    } else if (this.#isOver(flow, protocol, flags)) {
      // The same ports again: a new connection in an old row.
      if (isForward) this.#begin(flow, packet, timeMs);
    }
    flows.touch(flow, this.#second);
    if (!isForward) {
      if ((flows.state(flow) & ANSWERED) === 0) this.#answers(flow, protocol, flags, timeMs);
      else this.#backward(flow, flags);
      return -1;
    }
    if ((flows.state(flow) & OUTWARD) !== 0) this.#sent(flow, packet, timeMs);
    this.#signature.add(flows.sourceHash, flows.destinationHash, ports);
    return this.#forward(flow, protocol, flags, flows.sourceHash);
  }

  /** Takes a connection of a flow log, whose addresses are in `words`. */
  connection(connection: ConnectionObservation, words: Uint32Array): void {
    const { timeMs, protocol, answered, established } = connection;
    const { sources, pairs } = this;
    const destinations = this.#destinations;
    writeAddress(connection.source, words, 0);
    writeAddress(connection.destination, words, 4);
    const source = sources.table.rowOf(words, 0, timeMs);
    const destination = destinations.table.rowOf(words, 4, timeMs);
    const hash = sources.table.hash(source);
    const ports = ((connection.sourcePort << 16) | connection.destinationPort) >>> 0;
    const service = (protocol << 16) | connection.destinationPort;
    const target = destinations.table.hash(destination);
    if (connection.packetsOut > 0)
      destinations.packet(destination, hash, Math.min(connection.packetsOut, MOST_PACKETS));
    destinations.answer(destination, Math.min(connection.packetsIn, MOST_PACKETS));
    this.#signature.add(hash, target, ports);
    if (protocol === PROTOCOL.TCP) {
      destinations.syn(destination);
      if (established) destinations.handshake(destination);
    }
    const isFirst = sources.contact(source, target, service, timeMs);
    if (isFirst && answered !== null && this.#settings.directions === 'both') {
      sources.outcome(source, answered, timeMs);
      if (!answered) this.#aim(words, source, destination, service, timeMs);
    }
    if (answered === true) this.#made(words, hash, target, connection.destinationPort, timeMs);
    if (this.#isOutward(words)) {
      const pair = pairs.connection(words, service, timeMs);
      pairs.sent(pair, connection.bytesOut, words, timeMs);
    }
  }

  /** Somebody says that a packet could not be delivered. */
  unreachable({ words, ports, protocol }: PacketReader, timeMs: number): void {
    const flow = this.flows.find(words, ports, protocol);
    if (flow >= 0 && (this.flows.state(flow) & WAITING) !== 0) this.#failed(flow, timeMs);
  }

  /**
   * A report's packet of a flow that is known. Addresses and time are seldom needed.
   * @param found as the table of flows gives it
   * @param place where the table keeps what it has found
   */
  #known(batch: TelemetryBatch, row: number, found: number, rest: number, place: number, untimedMs: number): number {
    const { flows } = this;
    const flow = found >> 1;
    const flags = rest & REST.FLAGS;
    const protocol = batch.protocol[row]!;
    const state = flows.state(flow);
    this.packets++;
    flows.touch(flow, this.#second);
    if ((found & 1) !== 0) {
      if ((state & ANSWERED) !== 0) this.#backward(flow, flags);
      else this.#answers(flow, protocol, flags, frameTimeMs(batch, batch.frame[row]!, untimedMs));
      return -1;
    }
    if ((state & OUTWARD) !== 0) {
      this.#sent(flow, this.#reported.read(batch, row, rest), frameTimeMs(batch, batch.frame[row]!, untimedMs));
    }
    const source = flows.sourceHashes[place]!;
    this.#signature.add(source, flows.destinationHashes[place]!, batch.ports[row]! | 0);
    return this.#forward(flow, protocol, flags, source);
  }

  #isOver(flow: number, protocol: number, flags: number): boolean {
    const { flows } = this;
    const isSyn = protocol === PROTOCOL.TCP && (flags & (TCP.SYN | TCP.ACK)) === TCP.SYN;
    return (
      (isSyn && (flows.state(flow) & (CLOSED | ESTABLISHED)) !== 0) ||
      flows.silence(flow, this.#second) > SILENT_SECONDS
    );
  }

  #begin(flow: number, { words, protocol, flags }: PacketReader, timeMs: number): void {
    const { flows, sources } = this;
    const destinations = this.#destinations;
    const source = sources.table.rowOf(words, 0, timeMs);
    const destination = destinations.table.rowOf(words, 4, timeMs);
    flows.join(flow, sources.table, source, destinations.table, destination);
    const isSyn = (flags & (TCP.SYN | TCP.ACK)) === TCP.SYN;
    const outward = this.#isOutward(words) ? OUTWARD : 0;
    // A TCP connection whose beginning was not seen is no contact: who began it is not known.
    if (protocol === PROTOCOL.TCP && !isSyn) {
      flows.setState(flow, ANSWERED | ESTABLISHED | outward);
      return;
    }
    flows.setState(flow, BEGUN | outward);
    const service = (protocol << 16) | flows.service(flow);
    const isFirst = sources.contact(source, destinations.table.hash(destination), service, timeMs);
    if (isFirst && this.#settings.directions === 'both') {
      flows.setState(flow, BEGUN | WAITING | outward);
      this.contacts.wait(flow, timeMs);
    }
    if (outward !== 0) flows.joinPair(flow, this.pairs.table, this.pairs.connection(words, service, timeMs));
  }

  /** A packet from the side that began. @returns the row of the destination; -1: another host has it now */
  #forward(flow: number, protocol: number, flags: number, source: number): number {
    const destination = this.flows.destination(flow, this.#destinations.table);
    if (protocol === PROTOCOL.TCP) this.#tcpForward(flow, destination, flags);
    if (destination >= 0) this.#destinations.packet(destination, source);
    return destination;
  }

  #tcpForward(flow: number, destination: number, flags: number): void {
    const { flows } = this;
    const state = flows.state(flow);
    const isSyn = (flags & (TCP.SYN | TCP.ACK)) === TCP.SYN;
    if (isSyn && destination >= 0) this.#destinations.syn(destination);
    if (!isSyn && (state & (BEGUN | ANSWERED | ESTABLISHED)) === (BEGUN | ANSWERED) && (flags & TCP.RST) === 0) {
      flows.setState(flow, state | ESTABLISHED);
      if (destination >= 0) this.#destinations.handshake(destination);
    }
    if ((flags & (TCP.FIN | TCP.RST)) !== 0) flows.setState(flow, flows.state(flow) | CLOSED);
  }

  /** A packet to the side that began, of a flow that was answered before. */
  #backward(flow: number, flags: number): void {
    const { flows } = this;
    const destination = flows.destination(flow, this.#destinations.table);
    if (destination >= 0) this.#destinations.answer(destination);
    if ((flags & (TCP.FIN | TCP.RST)) !== 0) flows.setState(flow, flows.state(flow) | CLOSED);
  }

  /** The first packet to the side that began: an answer, or a refusal. */
  #answers(flow: number, protocol: number, flags: number, timeMs: number): void {
    const { flows, sources } = this;
    const state = flows.state(flow);
    if (protocol === PROTOCOL.TCP && (flags & TCP.RST) !== 0) {
      if ((state & WAITING) !== 0) this.#failed(flow, timeMs);
      flows.setState(flow, flows.state(flow) | CLOSED);
      return;
    }
    this.#backward(flow, flags);
    flows.setState(flow, (flows.state(flow) | ANSWERED) & ~WAITING);
    const source = flows.source(flow, sources.table);
    if ((state & WAITING) !== 0) {
      if (source >= 0) sources.outcome(source, true, timeMs);
      else this.contacts.lost++;
    }
    if ((state & BEGUN) === 0) return;
    flows.copyAddresses(flow, this.#words);
    this.#made(this.#words, hashOf(this.#words, 0), hashOf(this.#words, 4), flows.service(flow), timeMs);
  }

  /** A connection was made; between two inside hosts it is an edge. */
  #made(words: Uint32Array, source: number, destination: number, port: number, timeMs: number): void {
    if (!this.#inside.has(words, 0) || !this.#inside.has(words, 4)) return;
    this.#edges.answered(words, source, destination, port, timeMs, (at) => addressText(words, at));
  }

  #failed(flow: number, timeMs: number): void {
    const { flows, sources } = this;
    flows.setState(flow, flows.state(flow) & ~WAITING);
    const source = flows.source(flow, sources.table);
    if (source < 0) {
      this.contacts.lost++;
      return;
    }
    const destination = flows.destination(flow, this.#destinations.table);
    // Contacts that fail in a flood are its victims', or made up.
    if (destination >= 0 && this.#destinations.isFlooded(destination, timeMs)) return;
    sources.outcome(source, false, timeMs);
    flows.copyAddresses(flow, this.#words);
    this.#aim(this.#words, source, destination, (flows.protocol(flow) << 16) | flows.service(flow), timeMs);
  }

  /** Counts a failed contact for what it was aimed at, unless its source is known as a scanner. */
  #aim(words: Uint32Array, source: number, destination: number, service: number, timeMs: number): void {
    const { sources } = this;
    if (sources.isConvicted(source) || destination < 0) return;
    const target = this.#destinations.table.hash(destination);
    this.failedTargets.failure(words, service, sources.table.hash(source), target, timeMs);
  }

  #isOutward(words: Uint32Array): boolean {
    return this.#inside.has(words, 0) && !this.#inside.has(words, 4);
  }

  /** An inside host sends a packet to an outside one. */
  #sent(flow: number, { words, protocol, length }: PacketReader, timeMs: number): void {
    if (length === 0) return;
    const { flows, pairs } = this;
    let pair = flows.pair(flow, pairs.table);
    if (pair < 0) {
      pair = pairs.find(words, (protocol << 16) | flows.service(flow));
      if (pair < 0) return;
      flows.joinPair(flow, pairs.table, pair);
    }
    pairs.sent(pair, length, words, timeMs);
  }
}
