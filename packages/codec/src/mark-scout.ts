/** What could mark INT in a packet, whatever the settings are: for those who look for the settings that read it. */
import { CODES } from './codes.js';
import { IP_PROTOCOL } from './headers/ip.js';
import type { LinkLayer, Profile } from './options.js';
import { scanFrame } from './scan/frame.js';
import { dscpOf, linkPayload } from './scan/network.js';
import { readTransport } from './scan/packet.js';
import { nextIndividual } from './scan/report.js';
import { GENEVE_PORT, type Settings, settingsOf, VXLAN_GPE_PORT } from './scan/settings.js';
import { readShim } from './scan/shim.js';
import { MARKING, Scan } from './scan/state.js';
import { readGre } from './scan/tunnel.js';

/** The marks of a packet, and which of them would lead to sound INT. The scout reuses the object. */
export interface PacketMarks {
  /** Whether the packet lies in a report. */
  isInside: boolean;
  dscp: number;
  /** UDP destination port; -1: no UDP. */
  udpPort: number;
  /** GRE protocol type; -1: no GRE. */
  greProtocol: number;
  /** Sound INT follows if the DSCP marks it. */
  byDscp: boolean;
  /** Sound INT follows if the UDP port marks it. */
  byPort: boolean;
  byGre: boolean;
  /** Sound INT follows behind these 8 bytes. */
  marker: bigint | null;
  /** The UDP payload is a report, by its bytes alone. */
  isReport: boolean;
  /** The UDP payload is a report with a packet whose flow is known, if the port marks reports. */
  byReportPort: boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A shim behind the header of a tunnel is no probe marker. */
const TUNNEL_PORTS: readonly number[] = [VXLAN_GPE_PORT, GENEVE_PORT];
const MODE_MX = 2;

/** Looks into packets of one dialect. No mark is set, so what it finds does not depend on settings. */
export class MarkScout {
  readonly #settings: Mutable<Settings>;
  readonly #scan: Scan;
  readonly #marks: PacketMarks = {
    isInside: false,
    dscp: 0,
    udpPort: -1,
    greProtocol: -1,
    byDscp: false,
    byPort: false,
    byGre: false,
    marker: null,
    isReport: false,
    byReportPort: false,
  };
  #memory: Uint8Array = new Uint8Array(0);

  constructor(profile: Profile) {
    this.#settings = { ...settingsOf({ profile, intPorts: [], intDscp: null, reportPorts: [] }) };
    this.#scan = new Scan(this.#settings);
  }

  /** Calls `note` for the packet of the frame, and for each packet inside a report. Whatever the bytes are, it does not throw. */
  look(frame: Uint8Array, link: LinkLayer, note: (marks: PacketMarks) => void): void {
    const { buffer, byteOffset: start, length } = frame;
    if (this.#memory.buffer !== buffer) this.#memory = new Uint8Array(buffer);
    const end = start + length;
    const settings = this.#settings;
    if (link !== 'report') {
      const scan = this.#scan;
      scan.aim(this.#memory, start, end);
      const ip = linkPayload(scan, link, start, end);
      if (ip < 0 || !readTransport(scan, ip, end)) return;
      const { l4Offset: l4, l4Protocol: protocol } = scan;
      this.#note(end, false);
      if (protocol === IP_PROTOCOL.UDP) this.#noteReport(start, end, link, scan.view.getUint16(l4 + 2));
      note(this.#marks);
      if (protocol !== IP_PROTOCOL.UDP) return;
    }
    settings.reportPorts = null;
    if (!this.#scanned(start, end, link)) return;
    const scan = this.#scan;
    do {
      if (scan.reportVersion === 0 || scan.code !== CODES.OK || scan.ipOffset < scan.innerOffset) continue;
      this.#note(Math.min(end, scan.innerEnd), true);
      note(this.#marks);
      scan.code = CODES.OK;
    } while (nextIndividual(scan));
  }

  /** @returns whether there is a packet with a transport header */
  #scanned(start: number, end: number, link: LinkLayer): boolean {
    const scan = this.#scan;
    scan.l4Offset = -1;
    scan.ipOffset = -1;
    scanFrame(scan, this.#memory, start, end, link);
    return scan.l4Offset >= 0 && scan.ipOffset >= 0 && (scan.code === CODES.OK || scan.code === CODES.NOT_INT);
  }

  /** Notes the marks of the packet that the scan has read up to its transport header. */
  #note(end: number, isInside: boolean): void {
    const scan = this.#scan;
    const marks = this.#marks;
    const { view, l4Offset: l4, l4Protocol: protocol } = scan;
    const isUdp = protocol === IP_PROTOCOL.UDP && l4 + 8 <= end;
    marks.isInside = isInside;
    marks.dscp = dscpOf(scan);
    marks.udpPort = isUdp ? view.getUint16(l4 + 2) : -1;
    marks.greProtocol = protocol === IP_PROTOCOL.GRE && l4 + 4 <= end ? view.getUint16(l4 + 2) : -1;
    marks.byDscp = marks.byPort = marks.byGre = marks.isReport = marks.byReportPort = false;
    marks.marker = null;
    if (isUdp) {
      marks.byPort = this.#sound(readShim(scan, l4 + 8, MARKING.PORT, protocol, end));
      marks.byDscp = this.#sound(readShim(scan, l4 + 8, MARKING.DSCP, protocol, end));
      if (!marks.byDscp && !marks.byPort && !TUNNEL_PORTS.includes(marks.udpPort))
        this.#noteMarker(l4 + 8, protocol, end);
    } else if (protocol === IP_PROTOCOL.TCP && l4 + 20 <= end) {
      const options = l4 + (view.getUint8(l4 + 12) >>> 4) * 4;
      marks.byDscp =
        this.#sound(readShim(scan, options, MARKING.DSCP, protocol, end)) ||
        this.#sound(readShim(scan, l4 + 20, MARKING.DSCP, protocol, end));
      if (!marks.byDscp) this.#noteMarker(options, protocol, end);
    } else if (marks.greProtocol >= 0) {
      this.#settings.greProtocol = marks.greProtocol;
      marks.byGre = this.#sound(readGre(scan, l4, end));
    }
  }

  #noteMarker(at: number, protocol: number, end: number): void {
    const scan = this.#scan;
    if (at + 12 > end) return;
    if (!this.#sound(readShim(scan, at + 8, MARKING.PROBE_MARKER, protocol, end))) return;
    this.#marks.marker = scan.view.getBigUint64(at);
  }

  #noteReport(start: number, end: number, link: LinkLayer, port: number): void {
    const scan = this.#scan;
    const marks = this.#marks;
    this.#settings.reportPorts = null;
    this.#scanned(start, end, link);
    marks.isReport = scan.reportVersion !== 0 && scan.code === CODES.OK;
    if (marks.isReport) return;
    this.#settings.reportPorts = [port];
    this.#scanned(start, end, link);
    marks.byReportPort = scan.reportVersion !== 0 && scan.code === CODES.OK && scan.flow;
  }

  /** Whether what was read says something: hops, or the header of INT-MX. */
  #sound(isRead: boolean): boolean {
    return isRead && (this.#scan.hopCount > 0 || this.#scan.mode === MODE_MX);
  }
}
