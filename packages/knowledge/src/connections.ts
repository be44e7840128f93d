import { FLAG, type TelemetryBatch } from '@int/codec';
import { ANSWER_MS, Contacts } from './contacts.js';
import type { Destinations } from './flood/destinations.js';
import type { TrafficSignature } from './flood/signature.js';
import { Edges } from './hosts/edges.js';
import { Inside } from './hosts/inside.js';
import { Pairs } from './hosts/pairs.js';
import type { Incidents } from './incident/incidents.js';
import type { Paths } from './network/paths.js';
import { type ConnectionObservation, frameTimeMs } from './observation.js';
import type { Capacity, Settings } from './options.js';
import { isContactOf, networkOf } from './packet/contact.js';
import { type PacketReader, PROTOCOL, TCP } from './packet/packet.js';
import { REST, ReportPackets } from './packet/report-packets.js';
import { FailedTargets } from './scan/failed-targets.js';
import { Sources } from './scan/sources.js';
import { Views } from './scan/views.js';
import { addressText, writeAddress } from './table/address.js';
import { FLOW_STATE, FlowTable, TOGETHER } from './table/flows.js';
import { hashOf } from './table/keys.js';

const { BEGUN, ANSWERED, ESTABLISHED, WAITING, CLOSED, OUTWARD, SCANS, UNSEEN } = FLOW_STATE;
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
  readonly views: Views;
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
  /** The time of frames that have none. */
  #untimedMs = 0;

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
    this.contacts = new Contacts(this.flows, (flow, timeMs) => this.#silent(flow, timeMs));
    this.views = new Views(settings.directions === 'one');
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
    this.#edges.advance(timeMs);
    this.pairs.advance(timeMs);
    this.#second = Math.floor(timeMs / 1000) | 0;
  }

  /** A second is over. */
  close(timeMs: number): void {
    this.views.close(timeMs);
  }

  /**
   * Takes the packets of reports without an error, all of one second.
   * @param untimedMs the time of frames that have none
   */
  observe(batch: TelemetryBatch, from: number, to: number, untimedMs: number): void {
    const { flows } = this;
    const { located } = flows;
    this.#reported.open(batch);
    this.#untimedMs = untimedMs;
    for (let start = from; start < to; start += TOGETHER) {
      const end = Math.min(to, start + TOGETHER);
      flows.locate(batch, start, end);
      const { replaced } = flows;
      for (let row = start; row < end; row++) {
        if (batch.code[row] !== 0) continue;
        this.reports++;
        const flags = batch.flags[row]!;
        if ((flags & (FLAG.FLOW | FLAG.BESIDES)) !== FLAG.FLOW) continue;
        const rest = this.#reported.rest(batch, row);
        const isLocated = (flags & FLAG.IPV6) === 0 && flows.replaced === replaced;
        const found = isLocated ? located[row - start]! : -1;
        const destination =
          found < 0 || this.#isOver(found >> 1, batch.protocol[row]!, rest & REST.FLAGS)
            ? this.packet(this.#reported.read(batch, row, rest), this.#timeMs(batch, row))
            : this.#known(batch, row, found, rest, row - start);
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
    // Of a connection that takes long, only the packets of its first second.
    const seconds = Math.max(1, (connection.durationMs ?? 0) / 1000);
    const packets = (count: number): number => Math.min(Math.ceil(count / seconds), MOST_PACKETS);
    if (connection.packetsOut > 0) destinations.packet(destination, hash, packets(connection.packetsOut));
    destinations.answer(destination, packets(connection.packetsIn));
    this.#signature.add(hash, target, ports);
    const isContact = isContactOf(words, ports, protocol);
    const isFirst = isContact && sources.contact(source, target, service, timeMs);
    if (protocol === PROTOCOL.TCP && !(isContact && sources.goesFromPortToPort(source))) {
      destinations.syn(destination);
      if (established) destinations.handshake(destination);
    }
    if (isFirst && answered !== null && !this.views.isOneWay) {
      if (answered) sources.success(source, timeMs);
      else {
        sources.failure(source, target, networkOf(words), service, timeMs, timeMs);
        this.#aim(words, source, destination, service, timeMs);
      }
    }
    if (answered === true) this.#made(words, hash, target, connection.destinationPort, timeMs);
    if (isContact && this.#isOutward(words)) {
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
  #known(batch: TelemetryBatch, row: number, found: number, rest: number, place: number): number {
    const { flows } = this;
    const flow = found >> 1;
    const flags = rest & REST.FLAGS;
    const protocol = batch.protocol[row]!;
    const state = flows.state(flow);
    this.packets++;
    flows.touch(flow, this.#second);
    if ((found & 1) !== 0) {
      if ((state & ANSWERED) !== 0) this.#backward(flow, flags);
      else this.#answers(flow, protocol, flags, this.#timeMs(batch, row));
      return -1;
    }
    if ((state & OUTWARD) !== 0) {
      this.#sent(flow, this.#reported.read(batch, row, rest), this.#timeMs(batch, row));
    }
    const source = flows.sourceHashes[place]!;
    this.#signature.add(source, flows.destinationHashes[place]!, batch.ports[row]! | 0);
    return this.#forward(flow, protocol, flags, source);
  }

  #timeMs(batch: TelemetryBatch, row: number): number {
    return frameTimeMs(batch, batch.frame[row]!, this.#untimedMs);
  }

  #isOver(flow: number, protocol: number, flags: number): boolean {
    const { flows } = this;
    const isSyn = protocol === PROTOCOL.TCP && (flags & (TCP.SYN | TCP.ACK)) === TCP.SYN;
    return (
      (isSyn && (flows.state(flow) & (CLOSED | ESTABLISHED)) !== 0) ||
      flows.silence(flow, this.#second) > SILENT_SECONDS
    );
  }

  #begin(flow: number, { words, ports, protocol, flags }: PacketReader, timeMs: number): void {
    const { flows, sources } = this;
    this.#judgeDue(timeMs);
    const destinations = this.#destinations;
    const source = sources.table.rowOf(words, 0, timeMs);
    const destination = destinations.table.rowOf(words, 4, timeMs);
    flows.join(flow, sources.table, source, destinations.table, destination);
    const isSyn = (flags & (TCP.SYN | TCP.ACK)) === TCP.SYN;
    const outward = this.#isOutward(words) ? OUTWARD : 0;
    // A TCP connection whose beginning was not seen is no contact: who began it is not known. But each of its packets has an
    // ACK (RFC 9293, section 3.10.7): one without SYN, ACK and RST belongs to none, and is a probe.
    if (protocol === PROTOCOL.TCP && !isSyn && (flags & (TCP.ACK | TCP.RST | TCP.SYN)) !== 0) {
      flows.setState(flow, ANSWERED | ESTABLISHED | outward);
      return;
    }
    if (!isContactOf(words, ports, protocol)) {
      flows.setState(flow, outward);
      return;
    }
    const service = (protocol << 16) | flows.service(flow);
    const isFirst = sources.contact(source, destinations.table.hash(destination), service, timeMs);
    const scans = isSyn && sources.goesFromPortToPort(source) ? SCANS : 0;
    flows.setState(flow, BEGUN | outward | scans);
    if (isFirst) {
      flows.setState(flow, BEGUN | outward | scans | WAITING);
      this.contacts.wait(flow, timeMs);
    }
    if (outward !== 0) flows.joinPair(flow, this.pairs.table, this.pairs.connection(words, service, timeMs));
  }

  /** A packet from the side that began. @returns the row of the destination; -1: another host has it now */
  #forward(flow: number, protocol: number, flags: number, source: number): number {
    const destination = this.flows.destination(flow, this.#destinations.table);
    if (protocol === PROTOCOL.TCP) {
      if ((flags & (TCP.FIN | TCP.SYN | TCP.RST | TCP.ACK)) !== TCP.ACK || !this.#isSettled(flow)) {
        this.#tcpForward(flow, destination, flags, source);
      } else if (this.views.isOneWay && destination >= 0) this.#destinations.answer(destination);
    }
    if (destination >= 0) this.#destinations.packet(destination, source);
    return destination;
  }

  /** Whether a packet that only acknowledges changes nothing, as most do. */
  #isSettled(flow: number): boolean {
    const state = this.flows.state(flow);
    return (state & ESTABLISHED) !== 0 || (state & (ANSWERED | UNSEEN)) === UNSEEN;
  }

  #tcpForward(flow: number, destination: number, flags: number, source: number): void {
    const { flows } = this;
    let state = flows.state(flow);
    const isSyn = (flags & (TCP.SYN | TCP.ACK)) === TCP.SYN;
    if (isSyn && destination >= 0 && (state & SCANS) === 0) this.#destinations.syn(destination);
    const isAcknowledgement = (flags & (TCP.ACK | TCP.RST | TCP.SYN)) === TCP.ACK;
    if (isAcknowledgement && (state & (BEGUN | ANSWERED)) === BEGUN) {
      this.#answerUnseen(flow, destination, source);
      state |= UNSEEN;
    }
    if (!isSyn && (state & (BEGUN | ANSWERED | ESTABLISHED)) === (BEGUN | ANSWERED) && (flags & TCP.RST) === 0) {
      flows.setState(flow, state | ESTABLISHED);
      if (destination >= 0 && (state & UNSEEN) === 0) this.#destinations.handshake(destination);
    }
    // Who acknowledges in a connection has got something.
    if (this.views.isOneWay && isAcknowledgement && destination >= 0) this.#destinations.answer(destination);
    if ((flags & (TCP.FIN | TCP.RST)) !== 0) flows.setState(flow, flows.state(flow) | CLOSED);
  }

  /** A client acknowledges what was not seen: if that is so of most, one direction is not seen, and it was answered. */
  #answerUnseen(flow: number, destination: number, source: number): void {
    const { flows } = this;
    const state = flows.state(flow);
    if ((state & UNSEEN) !== 0) return;
    flows.setState(flow, state | UNSEEN);
    this.views.unseen(source);
    if (destination >= 0) this.#destinations.acknowledged(destination);
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
    this.#judgeDue(timeMs);
    const state = flows.state(flow);
    if (protocol === PROTOCOL.TCP && (flags & TCP.RST) !== 0) {
      if ((state & WAITING) !== 0) this.#failed(flow, timeMs);
      flows.setState(flow, flows.state(flow) | CLOSED);
      return;
    }
    this.#backward(flow, flags);
    const source = flows.source(flow, sources.table);
    const isOfTcp = protocol === PROTOCOL.TCP && (state & BEGUN) !== 0;
    if (isOfTcp && source >= 0) this.views.seen(sources.table.hash(source));
    this.#answered(flow, timeMs);
  }

  /** Failures that are due count before what comes later: by the second alone, whoever is busy would fail in rows. */
  #judgeDue(timeMs: number): void {
    if (timeMs >= this.contacts.dueMs) this.contacts.advance(timeMs);
  }

  /** The contact of a flow has succeeded. */
  #answered(flow: number, timeMs: number): void {
    const { flows, sources } = this;
    const state = flows.state(flow);
    flows.setState(flow, (state | ANSWERED) & ~WAITING);
    if ((state & WAITING) !== 0) {
      const source = flows.source(flow, sources.table);
      if (source >= 0) sources.success(source, timeMs);
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

  /** Nobody answered, as far as was seen. */
  #silent(flow: number, timeMs: number): void {
    const { flows } = this;
    const { isOneWay } = this.views;
    // Where answers are not seen, only a client of TCP tells of one, by acknowledging it. Of a sample none may be seen at all.
    if (isOneWay && (flows.state(flow) & UNSEEN) !== 0) this.#answered(flow, timeMs);
    else if ((isOneWay && flows.protocol(flow) !== PROTOCOL.TCP) || this.#settings.sampling > 1) {
      flows.setState(flow, flows.state(flow) & ~WAITING);
    } else this.#failed(flow, timeMs, timeMs - ANSWER_MS);
  }

  #failed(flow: number, timeMs: number, beganMs = timeMs): void {
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
    const words = this.#words;
    flows.copyAddresses(flow, words);
    const service = (flows.protocol(flow) << 16) | flows.service(flow);
    sources.failure(source, hashOf(words, 4), networkOf(words), service, beganMs, timeMs);
    this.#aim(words, source, destination, service, timeMs);
  }

  /** Counts a failed contact for what it was aimed at, unless its source is known as a scanner. */
  #aim(words: Uint32Array, source: number, destination: number, service: number, timeMs: number): void {
    const { sources } = this;
    if (sources.isConvicted(source) || destination < 0) return;
    const target = this.#destinations.table.hash(destination);
    this.failedTargets.failure(words, service, sources.table.hash(source), target, this.#inside.has(words, 4), timeMs);
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
