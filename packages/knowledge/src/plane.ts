import { FLAG, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import { ANSWER_MS, Contacts } from './contacts.js';
import { Destinations } from './flood/destinations.js';
import { TrafficSignature } from './flood/signature.js';
import { Edges } from './hosts/edges.js';
import { Inside } from './hosts/inside.js';
import { Pairs } from './hosts/pairs.js';
import { type HostPhases, HostsByPhase } from './hosts/phases.js';
import type { Incident } from './incident/incident.js';
import { Incidents } from './incident/incidents.js';
import { METRIC_NAMES, NetworkMetrics } from './network/metrics.js';
import type { ConnectionObservation, KnowledgeTotals, MetricObservation, PacketObservation } from './observation.js';
import { type KnowledgeOptions, type Settings, settingsOf } from './options.js';
import { PacketReader, PROTOCOL, TCP } from './packet/packet.js';
import { Sources } from './scan/sources.js';
import { Targets } from './scan/targets.js';
import { addressText, writeAddress, writeIpv4 } from './table/address.js';
import { AHEAD, FLOW_STATE, FlowTable } from './table/flows.js';
import { hashOf } from './table/keys.js';

const WINDOW_MS = 1000;
/** Seconds that are closed one by one when time jumps ahead; what lies between is skipped. */
const MOST_WINDOWS = 120;
/** Switches of a path that are remembered of a destination. */
const PATH = 8;
const { BEGUN, ANSWERED, ESTABLISHED, WAITING, CLOSED, OUTWARD } = FLOW_STATE;

/** Who is told of incidents. */
export interface KnowledgeListener {
  /** An incident opens, and again when it closes. */
  incident(incident: Incident): void;
}

/**
 * What the packets of a network say about it: attacks, scans, beacons, leaks and congestion, as incidents with their
 * arithmetic. A function of what it is given and of its times: no clock, no randomness. All tables have a fixed size;
 * what finds no room is counted.
 *
 * @example
 * const plane = new KnowledgePlane({ inside: ['10.0.0.0/8'] }, { incident: (incident) => console.log(incident.id) });
 * for (const batch of batches) plane.observe(batch);
 * plane.finish();
 */
export class KnowledgePlane {
  readonly #settings: Settings;
  readonly #listener: KnowledgeListener;
  readonly #inside: Inside;
  readonly #incidents: Incidents;
  readonly #flows: FlowTable;
  readonly #contacts: Contacts;
  readonly #sources: Sources;
  readonly #destinations: Destinations;
  readonly #signature = new TrafficSignature();
  readonly #pairs: Pairs;
  readonly #edges: Edges;
  readonly #hosts: HostsByPhase;
  readonly #metrics: NetworkMetrics;
  readonly #byHost: Targets;
  readonly #byService: Targets;
  /** The last path to each destination, by row. */
  readonly #paths: Uint32Array;
  readonly #reader = new PacketReader();
  readonly #refused = new PacketReader();
  readonly #words = new Uint32Array(8);
  readonly #service = new Uint32Array(4);
  #windowMs = Number.NaN;
  #packets = 0;
  #reports = 0;
  #connections = 0;
  #told = 0;
  #unread = 0;
  #late = 0;

  /**
   * @param levelOf the security level of a host, the weight of its score; default 1 for all
   * @throws RangeError for an option out of range
   */
  constructor(options: KnowledgeOptions, listener: KnowledgeListener, levelOf: (host: string) => number = () => 1) {
    const settings = settingsOf(options);
    this.#settings = settings;
    this.#listener = listener;
    this.#inside = new Inside(settings.inside);
    this.#incidents = new Incidents((incident) => this.#tell(incident));
    this.#flows = new FlowTable(settings.capacity.flows);
    this.#contacts = new Contacts(this.#flows, (flow, timeMs) => this.#failed(flow, timeMs));
    this.#sources = new Sources(settings, this.#incidents);
    this.#destinations = new Destinations(settings, this.#incidents);
    this.#pairs = new Pairs(settings, this.#incidents);
    this.#edges = new Edges(settings, this.#incidents);
    this.#hosts = new HostsByPhase(levelOf);
    this.#metrics = new NetworkMetrics(settings, this.#incidents);
    this.#byHost = new Targets('ports', this.#incidents, (row, table) => {
      const destination = table.text(row);
      return { entity: `host:${destination}`, match: { destination } };
    });
    this.#byService = new Targets('hosts', this.#incidents, (row, table) => {
      // The address that stands for a service: 0.PROTOCOL.PORT.PORT.
      const [, protocol = 0, high = 0, low = 0] = table.text(row).split('.').map(Number);
      const port = 256 * high + low;
      return { entity: `service:${protocol}/${port}`, match: { protocol: String(protocol), port: String(port) } };
    });
    this.#paths = new Uint32Array(settings.capacity.destinations * PATH).fill(NOT_AVAILABLE);
  }

  /** Bytes that the tables take. @throws RangeError for an option out of range */
  static byteLength(options: KnowledgeOptions = {}): number {
    const { capacity } = settingsOf(options);
    return (
      FlowTable.byteLength(capacity.flows) +
      Contacts.BYTES +
      Sources.byteLength(capacity.sources) +
      Destinations.byteLength(capacity.destinations) +
      capacity.destinations * PATH * 4 +
      Pairs.byteLength(capacity.pairs) +
      NetworkMetrics.byteLength(capacity.metrics) +
      Edges.BYTES +
      2 * Targets.BYTES
    );
  }

  /**
   * Takes all frames of a batch: of reports, their packets and what switches say of themselves; of other frames, the
   * packets that they are. Allocates nothing per frame.
   */
  observe(batch: TelemetryBatch): void {
    let row = 0;
    for (let frame = 0; frame < batch.frames; frame++) {
      const timeMs = batch.isTimed
        ? (batch.frameTimeHigh[frame]! * 4294967296 + batch.frameTimeLow[frame]!) / 1e6
        : this.#windowMs || 0;
      this.advance(timeMs);
      let isReport = false;
      for (; row < batch.reports && batch.frame[row] === frame; row++) {
        if (row % AHEAD === 0) this.#flows.readAhead(batch, row, Math.min(batch.reports, row + AHEAD));
        if (batch.code[row] !== 0) continue;
        isReport = true;
        this.#report(batch, row, frame, timeMs);
      }
      // Damaged telemetry is a packet all the same: else it would be a way to stay unseen.
      if (!isReport) this.#plain(batch, frame, timeMs);
    }
  }

  /** The comfort path: takes one packet. @throws AddressError of @int/codec for an address that is none */
  packet(packet: PacketObservation): void {
    this.advance(packet.timeMs);
    const reader = this.#reader;
    writeAddress(packet.source, reader.words, 0);
    writeAddress(packet.destination, reader.words, 4);
    reader.ports = (((packet.sourcePort ?? 0) << 16) | (packet.destinationPort ?? 0)) >>> 0;
    reader.protocol = packet.protocol;
    reader.flags = packet.tcpFlags ?? 0;
    reader.length = packet.lengthBytes;
    const destination = this.#packet(packet.timeMs);
    const { path } = packet;
    if (path === undefined) return;
    this.#metrics.neighbours.path(path);
    if (destination < 0) return;
    for (let k = 0; k < PATH; k++) this.#paths[destination * PATH + k] = path[k] ?? NOT_AVAILABLE;
  }

  /** Takes what a switch says of itself, from elsewhere than a report. */
  metric({ timeMs, metric, switchId, part = 0, value }: MetricObservation): void {
    this.advance(timeMs);
    this.#metrics.add(METRIC_NAMES.indexOf(metric), switchId, part, value, timeMs);
  }

  /**
   * Takes a connection of a flow log. Its packets count for the second in which it began.
   * @throws AddressError of @int/codec for an address that is none
   */
  connection(connection: ConnectionObservation): void {
    const { timeMs, protocol, answered, established } = connection;
    this.advance(timeMs);
    this.#connections++;
    const words = this.#reader.words;
    writeAddress(connection.source, words, 0);
    writeAddress(connection.destination, words, 4);
    const source = this.#sources.table.rowOf(words, 0, timeMs);
    const destination = this.#destinations.table.rowOf(words, 4, timeMs);
    const hash = this.#sources.table.hash(source);
    const ports = ((connection.sourcePort << 16) | connection.destinationPort) >>> 0;
    const service = (protocol << 16) | connection.destinationPort;
    const target = this.#destinations.table.hash(destination);
    for (let k = 0; k < Math.min(connection.packetsOut, 1e6); k++) this.#destinations.packet(destination, hash);
    for (let k = 0; k < Math.min(connection.packetsIn, 1e6); k++) this.#destinations.answer(destination);
    this.#signature.add(hash, target, ports);
    if (protocol === PROTOCOL.TCP) {
      this.#destinations.syn(destination);
      if (established) this.#destinations.handshake(destination);
    }
    const isFirst = this.#sources.contact(source, target, service, timeMs);
    if (isFirst && answered !== null && this.#settings.directions === 'both') {
      this.#sources.outcome(source, answered, timeMs);
      if (!answered) this.#aim(words, source, destination, service, timeMs);
    }
    if (answered === true) this.#made(words, hash, target, connection.destinationPort, timeMs);
    if (this.#isOutward(words)) {
      const pair = this.#pairs.connection(words, service, timeMs);
      this.#pairs.sent(pair, connection.bytesOut, words, timeMs);
    }
  }

  /**
   * Tells that all packets before a time have been given: seconds end, contacts fail, incidents close.
   * @param timeMs milliseconds since the epoch; one before the open second is late and changes nothing
   */
  advance(timeMs: number): void {
    if (Number.isNaN(this.#windowMs)) this.#windowMs = Math.floor(timeMs / WINDOW_MS) * WINDOW_MS;
    if (timeMs < this.#windowMs) {
      this.#late++;
      return;
    }
    if (timeMs < this.#windowMs + WINDOW_MS) return;
    this.#contacts.advance(timeMs);
    let windows = 0;
    while (timeMs >= this.#windowMs + WINDOW_MS && windows++ < MOST_WINDOWS) this.#closeWindow();
    if (timeMs >= this.#windowMs + WINDOW_MS) this.#windowMs = Math.floor(timeMs / WINDOW_MS) * WINDOW_MS;
    this.#incidents.advance(timeMs);
  }

  /** Ends the input: the last second counts, contacts without an answer have failed, incidents close. */
  finish(): void {
    if (!Number.isNaN(this.#windowMs)) this.advance(this.#windowMs + ANSWER_MS + WINDOW_MS);
    this.#incidents.finish();
  }

  /** Incidents that are open. */
  get open(): readonly Incident[] {
    return this.#incidents.open;
  }

  /** Hosts at which phases of an attack were seen, the highest score first. */
  hosts(): readonly HostPhases[] {
    return this.#hosts.hosts(this.#windowMs);
  }

  totals(): KnowledgeTotals {
    return {
      packets: this.#packets,
      reports: this.#reports,
      connections: this.#connections,
      incidents: this.#told,
      untracked: {
        unread: this.#unread,
        late: this.#late,
        flows: this.#flows.evicted,
        sources: this.#sources.table.evicted,
        destinations: this.#destinations.table.evicted,
        pairs: this.#pairs.table.evicted,
        metrics: this.#metrics.table.evicted,
        targets: this.#byHost.evicted + this.#byService.evicted,
        contacts: this.#contacts.lost,
        incidents: this.#incidents.untracked,
        hosts: this.#hosts.untracked,
      },
    };
  }

  #report(batch: TelemetryBatch, row: number, frame: number, timeMs: number): void {
    this.#reports++;
    this.#metrics.report(batch, row, timeMs);
    const flags = batch.flags[row]!;
    if ((flags & FLAG.FLOW) === 0) return;
    this.#readRest(batch, row, frame);
    const isIpv4 = (flags & FLAG.IPV6) === 0;
    const destination = isIpv4 ? this.#known(batch, row, timeMs) : this.#unknown(batch, row, timeMs);
    if (destination >= 0 && (this.#reports & 7) === 0) this.#rememberPath(batch, row, destination);
  }

  /** The packet of an IPv4 report, whose flow most often is known: then its addresses are seldom needed. */
  #known(batch: TelemetryBatch, row: number, timeMs: number): number {
    const flows = this.#flows;
    const flow = flows.findAhead(batch, row, row % AHEAD);
    if (flow < 0 || this.#isOver(flow, timeMs)) return this.#unknown(batch, row, timeMs);
    if ((flows.state(flow) & OUTWARD) !== 0) this.#readAddresses(batch, row);
    this.#packets++;
    return this.#goesOn(flow, flows.isForward, timeMs);
  }

  #unknown(batch: TelemetryBatch, row: number, timeMs: number): number {
    this.#readAddresses(batch, row);
    return this.#packet(timeMs);
  }

  /** A frame without telemetry is a packet like others. */
  #plain(batch: TelemetryBatch, frame: number, timeMs: number): void {
    const at = batch.frameOffset[frame]!;
    const end = at + batch.frameLength[frame]!;
    const reader = this.#reader;
    if (!reader.readFrame(batch.bytes, at, end, batch.linkType ?? 'ethernet')) this.#unread++;
    else if (reader.protocol !== PROTOCOL.ICMP && reader.protocol !== PROTOCOL.ICMPV6) this.#packet(timeMs);
    else this.#icmp(batch.bytes, end, timeMs);
  }

  #tell(incident: Incident): void {
    if (incident.state === 'open') {
      this.#told++;
      this.#hosts.add(incident);
    }
    this.#listener.incident(incident);
  }

  #closeWindow(): void {
    const end = this.#windowMs + WINDOW_MS;
    this.#metrics.close(end);
    const isCalm = this.#incidents.open.every(({ kind }) => kind !== 'ddos' && kind !== 'syn-flood');
    this.#signature.close(isCalm);
    this.#destinations.close(end, this.#signature, (row) => this.#damage(row));
    this.#windowMs = end;
  }

  /** The switch on a destination's path that suffers; `false`: none does; `null`: no path is known. */
  #damage(row: number): string | null | false {
    let isKnown = false;
    for (let k = row * PATH; k < (row + 1) * PATH; k++) {
      const switchId = this.#paths[k]!;
      if (switchId === NOT_AVAILABLE) continue;
      isKnown = true;
      if (this.#metrics.isHurt(switchId)) return `switch:${switchId}`;
    }
    return isKnown ? false : null;
  }

  #rememberPath(batch: TelemetryBatch, row: number, destination: number): void {
    const count = Math.min(PATH, batch.hopCount[row]!);
    for (let k = 0; k < PATH; k++) {
      this.#paths[destination * PATH + k] = k < count ? batch.hop.nodeId[batch.hopStart[row]! + k]! : NOT_AVAILABLE;
    }
  }

  /** The monitored packet of a report but for its addresses: from the columns, and from its bytes where they are there. */
  #readRest(batch: TelemetryBatch, row: number, frame: number): void {
    const reader = this.#reader;
    const start = batch.frameOffset[frame]!;
    const end = start + batch.frameLength[frame]!;
    const ethernet = batch.ethernet[row]!;
    if (ethernet !== NOT_AVAILABLE) reader.readRest(batch.bytes, ethernet, end);
    else {
      // A switch may send a packet without payload from its IP header on: its flags are there all the same.
      reader.flags = reader.length = 0;
      const isIpv4 = (batch.flags[row]! & FLAG.IPV6) === 0;
      reader.findIp(batch.bytes, start, end, batch.source0[row]!, batch.destination0[row]!, isIpv4);
    }
    reader.ports = batch.ports[row]!;
    reader.protocol = batch.protocol[row]!;
  }

  #readAddresses(batch: TelemetryBatch, row: number): void {
    const { words } = this.#reader;
    if ((batch.flags[row]! & FLAG.IPV6) === 0) {
      writeIpv4(batch.source0[row]!, words, 0);
      writeIpv4(batch.destination0[row]!, words, 4);
      return;
    }
    words[0] = batch.source0[row]!;
    words[1] = batch.source1[row]!;
    words[2] = batch.source2[row]!;
    words[3] = batch.source3[row]!;
    words[4] = batch.destination0[row]!;
    words[5] = batch.destination1[row]!;
    words[6] = batch.destination2[row]!;
    words[7] = batch.destination3[row]!;
  }

  /** ICMP: an echo is a contact, 'unreachable' refuses one. */
  #icmp(bytes: Uint8Array, end: number, timeMs: number): void {
    const reader = this.#reader;
    const isIpv4 = reader.protocol === PROTOCOL.ICMP;
    const header = isIpv4 ? (bytes[reader.ipOffset]! & 15) * 4 : 40;
    const at = reader.ipOffset + header;
    if (at + 8 > end) {
      this.#unread++;
      return;
    }
    const type = bytes[at]!;
    if (type === (isIpv4 ? 8 : 128) || type === (isIpv4 ? 0 : 129)) {
      this.#packet(timeMs);
      return;
    }
    this.#packets++;
    const refused = this.#refused;
    if (type !== (isIpv4 ? 3 : 1) || !refused.readIp(bytes, at + 8, end)) return;
    const flow = this.#flows.find(refused.words, refused.ports, refused.protocol);
    if (flow >= 0 && (this.#flows.state(flow) & WAITING) !== 0) this.#failed(flow, timeMs);
  }

  /**
   * The packet in the reader.
   * @returns the row of the flow's destination if the packet goes there, else -1
   */
  #packet(timeMs: number): number {
    this.#packets++;
    const { words, ports, protocol } = this.#reader;
    const flows = this.#flows;
    let flow = flows.find(words, ports, protocol);
    let isForward = flows.isForward;
    if (flow >= 0 && this.#isOver(flow, timeMs)) {
      // The same ports again: a new connection in an old row.
      if (isForward) this.#begin(flow, timeMs);
    } else if (flow < 0) {
      flow = flows.insert(words, ports, protocol, timeMs);
      isForward = true;
      this.#begin(flow, timeMs);
    }
    return this.#goesOn(flow, isForward, timeMs);
  }

  /** A packet of a flow of which there is a row. @returns as {@link #packet} */
  #goesOn(flow: number, isForward: boolean, timeMs: number): number {
    this.#flows.touch(flow, timeMs);
    if (isForward) return this.#forward(flow, this.#reader.length, timeMs);
    this.#backward(flow, timeMs);
    return -1;
  }

  #isOver(flow: number, timeMs: number): boolean {
    const flows = this.#flows;
    const isSyn = this.#reader.protocol === PROTOCOL.TCP && (this.#reader.flags & (TCP.SYN | TCP.ACK)) === TCP.SYN;
    return (isSyn && (flows.state(flow) & (CLOSED | ESTABLISHED)) !== 0) || timeMs - flows.lastMs(flow) > 600_000;
  }

  #begin(flow: number, timeMs: number): void {
    const { words, protocol, flags } = this.#reader;
    const flows = this.#flows;
    const sources = this.#sources;
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
      this.#contacts.wait(flow, timeMs);
    }
    if (outward !== 0) this.#pairs.connection(words, service, timeMs);
  }

  #forward(flow: number, length: number, timeMs: number): number {
    const flows = this.#flows;
    const { words, ports, protocol, flags } = this.#reader;
    const destination = flows.destination(flow, this.#destinations.table);
    const source = flows.sourceHash;
    this.#signature.add(source, flows.destinationHash, ports);
    if ((flows.state(flow) & OUTWARD) !== 0 && length > 0)
      this.#sent(words, (protocol << 16) | flows.service(flow), length, timeMs);
    if (protocol === PROTOCOL.TCP) this.#tcpForward(flow, destination, flags);
    if (destination >= 0) {
      this.#destinations.packet(destination, source);
      this.#destinations.table.lastMs[destination] = timeMs;
    }
    return destination;
  }

  #tcpForward(flow: number, destination: number, flags: number): void {
    const flows = this.#flows;
    const state = flows.state(flow);
    const isSyn = (flags & (TCP.SYN | TCP.ACK)) === TCP.SYN;
    if (isSyn && destination >= 0) this.#destinations.syn(destination);
    if (!isSyn && (state & (BEGUN | ANSWERED | ESTABLISHED)) === (BEGUN | ANSWERED) && (flags & TCP.RST) === 0) {
      flows.setState(flow, state | ESTABLISHED);
      if (destination >= 0) this.#destinations.handshake(destination);
    }
    if ((flags & (TCP.FIN | TCP.RST)) !== 0) flows.setState(flow, flows.state(flow) | CLOSED);
  }

  #backward(flow: number, timeMs: number): void {
    const flows = this.#flows;
    const { protocol, flags } = this.#reader;
    const destination = flows.destination(flow, this.#destinations.table);
    const state = flows.state(flow);
    const isRefusal = protocol === PROTOCOL.TCP && (flags & TCP.RST) !== 0 && (state & ANSWERED) === 0;
    if (isRefusal) {
      if ((state & WAITING) !== 0) this.#failed(flow, timeMs);
      flows.setState(flow, flows.state(flow) | CLOSED);
      return;
    }
    if (destination >= 0) this.#destinations.answer(destination);
    if ((state & ANSWERED) === 0) this.#answered(flow, timeMs);
    if ((flags & (TCP.FIN | TCP.RST)) !== 0) flows.setState(flow, flows.state(flow) | CLOSED);
  }

  #answered(flow: number, timeMs: number): void {
    const flows = this.#flows;
    const state = flows.state(flow);
    flows.setState(flow, (state | ANSWERED) & ~WAITING);
    const source = flows.source(flow, this.#sources.table);
    if ((state & WAITING) !== 0) {
      if (source >= 0) this.#sources.outcome(source, true, timeMs);
      else this.#contacts.lost++;
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
    const flows = this.#flows;
    flows.setState(flow, flows.state(flow) & ~WAITING);
    const source = flows.source(flow, this.#sources.table);
    if (source < 0) {
      this.#contacts.lost++;
      return;
    }
    const destination = flows.destination(flow, this.#destinations.table);
    // Contacts that fail in a flood are its victims', or made up.
    if (destination >= 0 && this.#destinations.isFlooded(destination, timeMs)) return;
    this.#sources.outcome(source, false, timeMs);
    flows.copyAddresses(flow, this.#words);
    this.#aim(this.#words, source, destination, (flows.protocol(flow) << 16) | flows.service(flow), timeMs);
  }

  /** Counts a failed contact for what it was aimed at, unless its source is known as a scanner. */
  #aim(words: Uint32Array, source: number, destination: number, service: number, timeMs: number): void {
    if (this.#sources.isConvicted(source) || destination < 0) return;
    const hash = this.#sources.table.hash(source);
    this.#byHost.failure(words, 4, service, hash, timeMs);
    writeIpv4(service & 0xffffff, this.#service, 0);
    this.#byService.failure(this.#service, 0, this.#destinations.table.hash(destination), hash, timeMs);
  }

  #isOutward(words: Uint32Array): boolean {
    return this.#inside.has(words, 0) && !this.#inside.has(words, 4);
  }

  #sent(words: Uint32Array, service: number, length: number, timeMs: number): void {
    const pair = this.#pairs.find(words, service);
    if (pair >= 0) this.#pairs.sent(pair, length, words, timeMs);
  }
}
