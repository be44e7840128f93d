/** Writes telemetry reports and packets as bytes, without making objects. */
import { logicalInterfaceOf, queueIdOf } from './fabric.js';
import { PROTOCOL } from './flows.js';
import {
  DROP_REASON,
  INITIAL_HOP_COUNT,
  INITIAL_TTL,
  INT_DSCP,
  INT_PORT,
  reportBits10,
  reportBits20,
  timestamp32,
  wordsOf,
} from './layout.js';
import type { TrafficSettings } from './options.js';
import type { Simulation } from './simulation.js';

/** Length of the longest report in bytes. `ReportStream.fill` needs this room for one more report. */
export const MAX_REPORT_BYTES = 512;

/** Identification 0, flag DF, fragment offset 0. */
const DONT_FRAGMENT = 0x4000;
/** TCP data offset 5, flag ACK, window 65535. */
const TCP_ACK = 0x5010_ffff;
const TWO_32 = 0x1_0000_0000;

/** Both halves of a word, for a one's complement sum. */
function halves(word: number): number {
  return (word >>> 16) + (word & 0xffff);
}

/** Internet checksum (RFC 1071) of a sum. */
function checksumOf(sum: number): number {
  let folded = sum;
  while (folded > 0xffff) folded = (folded & 0xffff) + (folded >>> 16);
  return ~folded & 0xffff;
}

/**
 * Writes the present report or packet of a simulation.
 *
 * The packet inside a report is the IPv4 packet without its payload. Its lengths and checksums are those of the whole
 * packet, whose payload is zeros.
 */
export class ReportWriter {
  readonly #simulation: Simulation;
  readonly #settings: TrafficSettings;
  readonly #wide: boolean;
  /** Words of one hop's block in the stack. */
  readonly #hopWords: number;
  readonly #startHigh: number;
  readonly #startLow: number;
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** Offset of the next byte to write. */
  at = 0;
  /** One's complement sum of the words written, for the checksum of the packet inside. */
  #sum = 0;

  constructor(simulation: Simulation) {
    const { settings } = simulation;
    this.#simulation = simulation;
    this.#settings = settings;
    this.#wide = settings.report === '2.0';
    this.#hopWords = wordsOf(settings.instructions, this.#wide);
    this.#startHigh = Number(settings.startNs >> 32n);
    this.#startLow = Number(settings.startNs & 0xffff_ffffn);
  }

  /** Writes to `out` from now on, from its first byte. */
  open(out: Uint8Array): void {
    this.#view = new DataView(out.buffer, out.byteOffset, out.byteLength);
    this.at = 0;
  }

  /** Writes a telemetry report, a UDP payload of at most {@link MAX_REPORT_BYTES}. */
  report(): void {
    if (this.#wide) this.#report20();
    else this.#report10();
  }

  #put(word: number): void {
    this.#view.setUint32(this.at, word);
    this.at += 4;
  }

  #flowHop(hop: number): number {
    return this.#simulation.flow * this.#settings.topology.maxHops + hop;
  }

  /** Report v2.0: group header, individual report header, main contents. */
  #report20(): void {
    const settings = this.#settings;
    const simulation = this.#simulation;
    const { hop, dropped, base } = simulation;
    const bits = reportBits20(settings.instructions, dropped);
    const start = this.at;
    this.#put((2 << 28) | (simulation.hwId << 22) | (simulation.sequence & 0x3f_ffff));
    this.#put(simulation.flows.hopSwitch[this.#flowHop(hop)]! + 1);
    this.at += 4;
    this.#put(bits << 16);
    this.#put(0);
    this.#metadata(hop, bits, true);
    const words = (this.at - start - 20) >>> 2;
    const flags = (dropped ? 0x80 : 0) | (simulation.hopCongested[base + hop] === 1 ? 0x40 : 0) | 0x20;
    this.packet(hop);
    const length = (this.at - start - 12) >>> 2;
    // RepType 1 (INT), InType 4 (IPv4).
    this.#view.setUint32(start + 8, (0x14 << 24) | (length << 16) | (words << 8) | flags);
  }

  /** Report v1.0. */
  #report10(): void {
    const settings = this.#settings;
    const simulation = this.#simulation;
    const { hop, dropped, base, flows } = simulation;
    const bits = reportBits10(settings.instructions, dropped);
    const start = this.at;
    this.at += 4;
    this.#put(flows.hopSwitch[this.#flowHop(hop)]! + 1);
    this.#put(simulation.sequence);
    this.#put(timestamp32(this.#low(simulation.hopArrival[base + hop]!)));
    // Ports, latency, queue, egress timestamp; then drop; then utilisation.
    const own = reportBits20(settings.instructions, dropped);
    this.#metadata(hop, own & 0x7400, false);
    if (dropped) this.#put((queueIdOf(flows.hopEgress[this.#flowHop(hop)]!) << 24) | (DROP_REASON << 16));
    this.#metadata(hop, own & 0x0100, false);
    const words = (this.at - start) >>> 2;
    const flags =
      (dropped ? 0x100 : 0) | (simulation.hopCongested[base + hop] === 1 ? 0x80 : 0) | 0x40 | simulation.hwId;
    // Version 1, NProto 1 (IPv4).
    this.#view.setUint32(start, (1 << 28) | (words << 24) | (1 << 21) | (bits << 15) | flags);
    this.packet(hop);
  }

  #low(timeNs: number): number {
    return (this.#startLow + (timeNs % TWO_32)) >>> 0;
  }

  #stamp(timeNs: number, wide: boolean): void {
    const low = this.#startLow + (timeNs % TWO_32);
    if (!wide) {
      this.#item(timestamp32(low >>> 0));
      return;
    }
    const carry = low >= TWO_32 ? 1 : 0;
    this.#item((this.#startHigh + Math.floor(timeNs / TWO_32) + carry) >>> 0);
    this.#item(low >>> 0);
  }

  /** Writes a word of metadata and adds it to the sum. */
  #item(word: number): void {
    this.#view.setUint32(this.at, word);
    this.at += 4;
    this.#sum += (word >>> 16) + (word & 0xffff);
  }

  /** The items of a hop that `bits` select, in bit order. Bit 15 is the drop word of a report. */
  #metadata(hop: number, bits: number, wide: boolean): void {
    const simulation = this.#simulation;
    const { flows } = simulation;
    const at = this.#flowHop(hop);
    const to = simulation.base + hop;
    const ingress = flows.hopIngress[at]!;
    const egress = flows.hopEgress[at]!;
    if (bits & 0x8000) this.#item(flows.hopSwitch[at]! + 1);
    if (bits & 0x4000) this.#item(((ingress << 16) | egress) >>> 0);
    if (bits & 0x2000) this.#item(simulation.hopLatency[to]!);
    if (bits & 0x1000) this.#item(((queueIdOf(egress) << 24) | simulation.hopCells[to]!) >>> 0);
    if (bits & 0x0800) this.#stamp(simulation.hopArrival[to]!, wide);
    if (bits & 0x0400) this.#stamp(simulation.hopArrival[to]! + simulation.hopLatency[to]!, wide);
    if (bits & 0x0200) {
      this.#item(logicalInterfaceOf(ingress));
      this.#item(logicalInterfaceOf(egress));
    }
    if (bits & 0x0100) this.#item(simulation.hopUtilization[to]!);
    if (bits & 0x0080) this.#item(simulation.hopBuffer[to]!);
    if (bits & 1) this.#item(((queueIdOf(egress) << 24) | (DROP_REASON << 16)) >>> 0);
  }

  /** Writes the IPv4 packet without its payload, as it is after a number of pushes: up to the reporting hop's. */
  packet(pushes: number): void {
    const settings = this.#settings;
    const simulation = this.#simulation;
    const { flows, flow } = simulation;
    const source = flows.source[flow]!;
    const destination = flows.destination[flow]!;
    const ports = flows.ports[flow]!;
    const tcp = flows.protocol[flow] === PROTOCOL.TCP;
    const payload = flows.payloadBytes[flow]!;
    const hasInt = settings.mode !== 'xd' && !(simulation.dropped && pushes === 0);
    const int20 = settings.mode === 'mx' || this.#wide;
    const stack = hasInt && settings.mode === 'md' ? 4 * pushes * this.#hopWords : 0;
    const intBytes = hasInt ? (int20 ? 16 : 12) + stack : 0;
    // A TCP segment with INT 2.x has an additional UDP header before INT (NPT 2).
    const wrapped = hasInt && int20 && tcp;
    const l4Bytes = tcp ? 20 : 8;
    const total = 20 + (wrapped ? 8 : 0) + l4Bytes + intBytes + payload;
    const tos = hasInt && !int20 ? INT_DSCP << 2 : 0;
    const protocol = tcp && !wrapped ? PROTOCOL.TCP : PROTOCOL.UDP;

    const first = (0x4500_0000 | (tos << 16) | total) >>> 0;
    const third = ((INITIAL_TTL - pushes) << 24) | (protocol << 16);
    const addresses = halves(source) + halves(destination);
    this.#put(first);
    this.#put(DONT_FRAGMENT);
    this.#put(third | checksumOf(halves(first) + DONT_FRAGMENT + halves(third >>> 0) + addresses));
    this.#put(source);
    this.#put(destination);

    if (wrapped) {
      this.#put(((0xc000 | (flows.hash[flow]! & 0x3fff)) << 16) | INT_PORT);
      this.#put((total - 20) << 16);
      this.#intHeader(true, 2, PROTOCOL.TCP, pushes, stack);
      this.#tcp(flow, ports, addresses, l4Bytes + payload);
      return;
    }
    const l4 = this.at;
    // NPT 1: the port marks INT, the shim keeps the original one.
    const marked = hasInt && int20 ? ((ports & 0xffff_0000) | INT_PORT) >>> 0 : ports;
    if (tcp) this.#tcp(flow, ports, addresses, total - 20);
    else {
      this.#put(marked);
      this.#put((total - 20) << 16);
    }
    this.#sum = 0;
    if (hasInt) this.#intHeader(int20, 1, ports & 0xffff, pushes, stack);
    if (tcp) {
      // The field holds the sum so far: continue from its complement.
      const soFar = ~this.#view.getUint16(l4 + 16) & 0xffff;
      this.#view.setUint16(l4 + 16, checksumOf(soFar + this.#sum));
    } else {
      const length = total - 20;
      const checksum = checksumOf(this.#sum + addresses + PROTOCOL.UDP + length + halves(marked) + length);
      this.#view.setUint16(l4 + 6, checksum === 0 ? 0xffff : checksum);
    }
  }

  /** A TCP header; `length` counts it and everything after it. */
  #tcp(flow: number, ports: number, addresses: number, length: number): void {
    const number = this.#simulation.flows.hash[flow]!;
    const sum = addresses + PROTOCOL.TCP + length + halves(ports) + 2 * halves(number) + halves(TCP_ACK);
    this.#put(ports);
    this.#put(number);
    this.#put(number);
    this.#put(TCP_ACK);
    this.#put(checksumOf(sum) << 16);
  }

  /** Shim, INT header and stack. Only 2.x has `npt` and `next`, the original port (NPT 1) or protocol (NPT 2). */
  #intHeader(int20: boolean, npt: number, next: number, pushes: number, stack: number): void {
    const { instructions, mode } = this.#settings;
    const words = stack >>> 2;
    const left = INITIAL_HOP_COUNT - pushes;
    if (int20) {
      const type = mode === 'mx' ? 3 : 1;
      this.#item(((type << 28) | (npt << 26) | ((3 + words) << 16) | next) >>> 0);
      this.#item(mode === 'mx' ? 0x2000_0000 : (0x2000_0000 | (this.#hopWords << 8) | left) >>> 0);
      this.#item((instructions << 16) >>> 0);
      this.#item(0);
    } else {
      this.#item((0x0100_0000 | ((3 + words) << 8)) >>> 0);
      this.#item((0x1000_0000 | (this.#hopWords << 8) | left) >>> 0);
      this.#item((instructions << 16) >>> 0);
    }
    if (stack === 0) return;
    // Nearest hop first: the last push is at the top.
    for (let hop = pushes - 1; hop >= 0; hop--) this.#metadata(hop, instructions, this.#wide);
  }
}
