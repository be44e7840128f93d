import type { TelemetryBatch } from '@int/codec';
import { Connections } from './connections.js';
import { ANSWER_MS } from './contacts.js';
import { type Damage, Destinations } from './flood/destinations.js';
import { TrafficSignature } from './flood/signature.js';
import { type HostPhases, HostsByPhase } from './hosts/phases.js';
import type { Incident } from './incident/incident.js';
import { Incidents } from './incident/incidents.js';
import { METRIC_NAMES, NetworkMetrics } from './network/metrics.js';
import { Paths } from './network/paths.js';
import {
  type ConnectionObservation,
  frameTimeMs,
  type KnowledgeTotals,
  type MetricObservation,
  type PacketObservation,
} from './observation.js';
import { type KnowledgeOptions, settingsOf } from './options.js';
import { PacketReader, PROTOCOL } from './packet/packet.js';
import { readInner } from './packet/tunnels.js';
import { writeAddress } from './table/address.js';

const WINDOW_MS = 1000;
/** Seconds that are closed one by one when time jumps ahead; what lies between is skipped. */
const MOST_WINDOWS = 120;
/** Tunnels within tunnels that are read. */
const MOST_TUNNELS = 2;

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
  readonly #listener: KnowledgeListener;
  readonly #incidents: Incidents;
  readonly #connections: Connections;
  readonly #destinations: Destinations;
  readonly #signature = new TrafficSignature();
  readonly #hosts: HostsByPhase;
  readonly #metrics: NetworkMetrics;
  readonly #paths: Paths;
  readonly #reader = new PacketReader();
  readonly #refused = new PacketReader();
  #windowMs = Number.NaN;
  #sinceMs = Number.NaN;
  #refusals = 0;
  #logged = 0;
  #told = 0;
  #unread = 0;
  #inner = 0;
  #late = 0;

  /**
   * @param levelOf the security level of a host, the weight of its score; default 1 for all
   * @throws RangeError for an option out of range
   */
  constructor(options: KnowledgeOptions, listener: KnowledgeListener, levelOf: (host: string) => number = () => 1) {
    const settings = settingsOf(options);
    this.#listener = listener;
    this.#incidents = new Incidents((incident) => this.#tell(incident));
    this.#destinations = new Destinations(settings, this.#incidents);
    this.#paths = new Paths(settings.capacity.destinations);
    this.#connections = new Connections(settings, this.#incidents, this.#destinations, this.#signature, this.#paths);
    this.#hosts = new HostsByPhase(levelOf);
    this.#metrics = new NetworkMetrics(settings, this.#incidents);
  }

  /** Bytes that the tables take. @throws RangeError for an option out of range */
  static byteLength(options: KnowledgeOptions = {}): number {
    const { capacity } = settingsOf(options);
    return (
      Connections.byteLength(capacity) +
      Destinations.byteLength(capacity.destinations) +
      Paths.byteLength(capacity.destinations) +
      NetworkMetrics.byteLength(capacity.metrics)
    );
  }

  /**
   * Takes all frames of a batch: of reports, their packets and what switches say of themselves; of other frames, the
   * packets that they are. Allocates nothing per frame.
   */
  observe(batch: TelemetryBatch): void {
    const { frames, reports, frame: frameOf, code } = batch;
    let fromMs = this.#windowMs;
    const untimedMs = fromMs || 0;
    // Reports of one second are taken together, up to a frame that is none.
    let from = 0;
    let row = 0;
    for (let frame = 0; frame < frames; frame++) {
      const timeMs = frameTimeMs(batch, frame, untimedMs);
      if (!(timeMs >= fromMs && timeMs < fromMs + WINDOW_MS)) {
        this.#takeReports(batch, from, row);
        from = row;
        this.advance(frameTimeMs(batch, frame, untimedMs));
        fromMs = this.#windowMs;
      }
      let isReport = false;
      for (; row < reports && frameOf[row] === frame; row++) isReport ||= code[row] === 0;
      if (isReport) continue;
      // Damaged telemetry is a packet all the same: else it would be a way to stay unseen.
      this.#takeReports(batch, from, row);
      from = row;
      this.#plain(batch, frame, frameTimeMs(batch, frame, untimedMs));
    }
    this.#takeReports(batch, from, row);
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
    const destination = this.#connections.packet(reader, packet.timeMs);
    const { path } = packet;
    if (path === undefined) return;
    this.#metrics.neighbours.path(path);
    if (destination >= 0) this.#paths.path(destination, path);
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
    this.advance(connection.timeMs);
    this.#logged++;
    this.#connections.connection(connection, this.#reader.words);
  }

  /**
   * Tells that all packets before a time have been given: seconds end, contacts fail, incidents close.
   * @param timeMs milliseconds since the epoch; one before the open second is late and changes nothing
   */
  advance(timeMs: number): void {
    if (Number.isNaN(this.#windowMs)) {
      this.#windowMs = this.#sinceMs = Math.floor(timeMs / WINDOW_MS) * WINDOW_MS;
      this.#connections.advance(timeMs);
    }
    if (timeMs < this.#windowMs) {
      this.#late++;
      return;
    }
    if (timeMs < this.#windowMs + WINDOW_MS) return;
    this.#connections.advance(timeMs);
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
    const { packets, reports, flows, sources, pairs, contacts, failedTargets } = this.#connections;
    return {
      packets: packets + this.#refusals,
      inner: this.#inner,
      reports,
      connections: this.#logged,
      incidents: this.#told,
      spanMs: this.#windowMs - this.#sinceMs || 0,
      untracked: {
        unread: this.#unread,
        late: this.#late,
        flows: flows.evicted,
        sources: sources.table.evicted,
        destinations: this.#destinations.table.evicted,
        pairs: pairs.table.evicted,
        metrics: this.#metrics.table.evicted,
        targets: failedTargets.evicted,
        contacts: contacts.lost,
        incidents: this.#incidents.untracked,
        hosts: this.#hosts.untracked,
      },
    };
  }

  /** Reports of the second that is open. */
  #takeReports(batch: TelemetryBatch, from: number, to: number): void {
    if (from === to) return;
    this.#metrics.observe(batch, from, to, this.#windowMs);
    this.#connections.observe(batch, from, to, this.#windowMs);
  }

  /** A frame without telemetry is a packet like others. */
  #plain(batch: TelemetryBatch, frame: number, timeMs: number): void {
    const at = batch.frameOffset[frame]!;
    const end = at + batch.frameLength[frame]!;
    const reader = this.#reader;
    if (!reader.readFrame(batch.bytes, at, end, batch.linkType ?? 'ethernet')) {
      this.#unread++;
      return;
    }
    this.#ip(batch.bytes, end, timeMs);
    // Both count, the packet of the tunnel and the one within: else a tunnel's header would be a way to stay unseen.
    for (let depth = 0; depth < MOST_TUNNELS && readInner(reader, batch.bytes, end); depth++) {
      this.#inner++;
      this.#ip(batch.bytes, end, timeMs);
    }
  }

  /** The packet in the reader. */
  #ip(bytes: Uint8Array, end: number, timeMs: number): void {
    const reader = this.#reader;
    if (reader.protocol === PROTOCOL.ICMP || reader.protocol === PROTOCOL.ICMPV6) this.#icmp(bytes, end, timeMs);
    else this.#connections.packet(reader, timeMs);
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
    this.#connections.close(end);
    const isCalm = this.#incidents.open.every(({ kind }) => kind !== 'ddos' && kind !== 'syn-flood');
    this.#signature.close(isCalm);
    const damage: Damage = (row) => this.#paths.damage(row, (switchId) => this.#metrics.isHurt(switchId));
    this.#destinations.close(end, this.#signature, damage, this.#connections.views.isOneWay);
    this.#windowMs = end;
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
      this.#connections.packet(reader, timeMs);
      return;
    }
    this.#refusals++;
    const refused = this.#refused;
    if (type === (isIpv4 ? 3 : 1) && refused.readQuoted(bytes, at + 8, end))
      this.#connections.unreachable(refused, timeMs);
  }
}
