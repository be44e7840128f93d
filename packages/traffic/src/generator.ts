/** Traffic as objects. */
import { type EncodeOptions, encodeFrame, FrameDecoder, type TelemetryRecord } from '@int/codec';
import type { FlowTable } from './flows.js';
import { INITIAL_TTL } from './layout.js';
import { settingsOf, type TrafficOptions, type TrafficSettings } from './options.js';
import { MAX_REPORT_BYTES, ReportWriter } from './report-writer.js';
import { Simulation } from './simulation.js';
import type { FabricSwitch, Host } from './topology.js';

/** {@link TrafficOptions}, and the form of the output. */
export interface GeneratorOptions extends TrafficOptions {
  /**
   * `reports` (default): telemetry reports as the collector receives them. `packets`: packets with INT, on the link to
   * their INT sink (modes `md` and `mx`).
   */
  readonly form?: 'reports' | 'packets';
}

/** One report, or one packet with INT. */
export interface GeneratedPacket {
  /** Time at which the packet left the switch, or was lost there: nanoseconds since the epoch. It never decreases. */
  readonly timeNs: bigint;
  /** The result of decoding the encoded frame by `@int/codec`: one record. */
  readonly records: TelemetryRecord[];
  /** The reporting switch; with form `packets`, the switch that the packet has just left. */
  readonly reporter: FabricSwitch;
  /** Index of the flow: 0 is the most popular. */
  readonly flow: number;
  /** Place of the reporter on the packet's path, from 0. */
  readonly hop: number;
  readonly source: Host;
  readonly destination: Host;
  /** Bytes of the original packet after its TCP or UDP header. */
  readonly payloadBytes: number;
}

/**
 * An endless stream of INT traffic in virtual time. The same options and seed give the same traffic.
 *
 * @example
 * const generator = new TrafficGenerator({ topology: 'leaf-spine:4x2', workload: 'cache', seed: 7 });
 * const { timeNs, records } = generator.next();
 */
export class TrafficGenerator {
  /** All options with their defaults. */
  readonly settings: TrafficSettings;
  readonly #simulation: Simulation;
  readonly #writer: ReportWriter;
  readonly #decoder: FrameDecoder;
  readonly #packets: boolean;

  /** @throws RangeError for an option out of range, TopologyError for a wrong topology text */
  constructor(options: GeneratorOptions) {
    const form = options.form ?? 'reports';
    if (form !== 'reports' && form !== 'packets')
      throw new RangeError(`form must be reports or packets, not '${form}'`);
    this.settings = settingsOf(options);
    this.#packets = form === 'packets';
    this.#simulation = new Simulation(this.settings, this.#packets);
    this.#writer = new ReportWriter(this.#simulation);
    this.#decoder = new FrameDecoder({ linkType: this.#packets ? 'raw' : 'report' });
  }

  /** All flows. */
  get flows(): FlowTable {
    return this.#simulation.flows;
  }

  /** The ports with episodes of overload: the ground truth for detectors of congestion. */
  hotspots(): { switchIndex: number; port: number }[] {
    return this.#simulation.fabric.hotspots();
  }

  /** Latency of a switch without queueing, in nanoseconds. @throws RangeError for an unknown switch */
  baseLatencyNs(switchIndex: number): number {
    if (this.settings.topology.switches[switchIndex] === undefined) throw new RangeError(`no switch ${switchIndex}`);
    return this.#simulation.fabric.baseLatencyNs(switchIndex);
  }

  /** The next report or packet. */
  next(): GeneratedPacket {
    const { topology, startNs } = this.settings;
    const simulation = this.#simulation;
    simulation.next();
    const { flows, flow, hop } = simulation;
    const source = topology.host(flows.sourceHost[flow]!);
    const destination = topology.host(flows.destinationHost[flow]!);
    const payloadBytes = flows.payloadBytes[flow]!;
    const ethernet = { source: source.mac, destination: destination.mac };
    return {
      timeNs: startNs + BigInt(simulation.timeNs),
      records: this.#decoder.decode(this.#encoded(hop, payloadBytes)).map((record) => ({ ...record, ethernet })),
      reporter: topology.switches[flows.hopSwitch[flow * topology.maxHops + hop]!]!,
      flow,
      hop,
      source,
      destination,
      payloadBytes,
    };
  }

  /** The present report, or the present packet with its whole payload: it is observed after the hop's push. */
  #encoded(hop: number, payloadBytes: number): Uint8Array {
    const writer = this.#writer;
    const bytes = new Uint8Array(MAX_REPORT_BYTES + payloadBytes);
    writer.open(bytes);
    if (!this.#packets) writer.report();
    else writer.packet(hop + 1);
    return bytes.subarray(0, writer.at + (this.#packets ? payloadBytes : 0));
  }

  /** The next `count` reports or packets. */
  *take(count: number): Generator<GeneratedPacket, void, undefined> {
    for (let i = 0; i < count; i++) yield this.next();
  }
}

/** Bytes of the inner packet's payload that a report keeps. */
const REPORT_PAYLOAD_BYTES = 8;

/**
 * The Ethernet frame of a generated packet, by `encodeFrame` of `@int/codec`: decoding it gives `packet.records`.
 *
 * A report has the address and MAC address of its switch. A packet with INT has its whole payload (zeros), the MAC
 * addresses of its hosts, and a TTL decremented by its switches.
 *
 * @param options encode options, which override those from the packet
 */
export function encodePacket(packet: GeneratedPacket, options: EncodeOptions = {}): Uint8Array {
  if (packet.records[0]?.report !== null) {
    return encodeFrame(packet.records, {
      reporter: packet.reporter.address,
      sourceMac: packet.reporter.mac,
      payload: new Uint8Array(Math.min(packet.payloadBytes, REPORT_PAYLOAD_BYTES)),
      ...options,
    });
  }
  return encodeFrame(packet.records, {
    sourceMac: packet.source.mac,
    destinationMac: packet.destination.mac,
    timeToLive: INITIAL_TTL - packet.hop - 1,
    payload: new Uint8Array(packet.payloadBytes),
    ...options,
  });
}
