/** The record of the present report of a simulation, as a decoder should give it: built without bytes. */
import type { Encapsulation, Hop, IntHeaderInfo, ReportInfo, TelemetryRecord } from '@int/codec';
import { logicalInterfaceOf, queueIdOf } from '../../src/fabric.js';
import { PROTOCOL } from '../../src/flows.js';
import { DROP_REASON, INITIAL_HOP_COUNT, reportBits20, timestamp32, wordsOf } from '../../src/layout.js';
import type { Simulation } from '../../src/simulation.js';

const LOW_32 = 0xffff_ffffn;

/** Builds the records of one simulation. */
export class RecordBuilder {
  readonly #simulation: Simulation;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** Virtual nanoseconds to wall-clock nanoseconds. */
  wallClock(timeNs: number): bigint {
    return this.#simulation.settings.startNs + BigInt(timeNs);
  }

  #stamp(timeNs: number, wide: boolean): bigint {
    const time = this.wallClock(timeNs);
    return wide ? time : BigInt(timestamp32(Number(time & LOW_32)));
  }

  /** The items that `bits` (instruction bitmap, bit 0 = 0x8000) select of hop `hop`. */
  #metadata(hop: number, bits: number, wide: boolean): Hop {
    const simulation = this.#simulation;
    const { flows, settings } = simulation;
    const at = simulation.flow * settings.topology.maxHops + hop;
    const to = simulation.base + hop;
    const ingress = flows.hopIngress[at]!;
    const egress = flows.hopEgress[at]!;
    const arrival = simulation.hopArrival[to]!;
    const latency = simulation.hopLatency[to]!;
    const values: Hop = {};
    if (bits & 0x8000) values.nodeId = flows.hopSwitch[at]! + 1;
    if (bits & 0x4000) {
      values.l1IngressInterface = ingress;
      values.l1EgressInterface = egress;
    }
    if (bits & 0x2000) values.hopLatency = latency;
    if (bits & 0x1000) {
      values.queueId = queueIdOf(egress);
      values.queueOccupancy = simulation.hopCells[to]!;
    }
    if (bits & 0x0800) values.ingressTimestamp = this.#stamp(arrival, wide);
    if (bits & 0x0400) values.egressTimestamp = this.#stamp(arrival + latency, wide);
    if (bits & 0x0200) {
      values.l2IngressInterface = logicalInterfaceOf(ingress);
      values.l2EgressInterface = logicalInterfaceOf(egress);
    }
    if (bits & 0x0100) values.egressUtilization = simulation.hopUtilization[to]!;
    if (bits & 0x0080) {
      values.bufferId = 0;
      values.bufferOccupancy = simulation.hopBuffer[to]!;
    }
    return values;
  }

  #report(hasInt: boolean): ReportInfo {
    const simulation = this.#simulation;
    const { settings, flows, hop, dropped } = simulation;
    const at = simulation.flow * settings.topology.maxHops + hop;
    const wide = settings.report === '2.0';
    const bits20 = reportBits20(settings.instructions, dropped);
    // A report v1.0 carries the ingress timestamp in its header, and cannot carry level-2 interfaces and buffer.
    const metadata = this.#metadata(hop, wide ? bits20 : bits20 & 0x7500, wide);
    const arrival = simulation.hopArrival[simulation.base + hop]!;
    return {
      version: settings.report,
      hwId: simulation.hwId,
      sequence: wide ? simulation.sequence & 0x3f_ffff : simulation.sequence,
      nodeId: flows.hopSwitch[at]! + 1,
      type: hasInt ? (settings.mode === 'mx' ? 'int-mx' : 'int-md') : dropped ? 'drop' : 'int-xd',
      dropped,
      queueCongested: simulation.hopCongested[simulation.base + hop] === 1,
      trackedFlow: true,
      intermediate: false,
      ingressTimestamp: wide ? (metadata.ingressTimestamp ?? null) : this.#stamp(arrival, false),
      dropReason: dropped ? DROP_REASON : null,
      dropQueueId: dropped ? queueIdOf(flows.hopEgress[at]!) : null,
      metadata,
    };
  }

  #header(pushes: number): IntHeaderInfo {
    const { settings, flows, flow } = this.#simulation;
    const { instructions, mode } = settings;
    const version = mode === 'mx' || settings.report === '2.0' ? '2' : '1.0';
    const tcp = flows.protocol[flow] === PROTOCOL.TCP;
    const encapsulation: Encapsulation = !tcp ? 'udp' : version === '2' ? 'udp-new' : 'tcp';
    return {
      mode,
      version,
      encapsulation,
      hopMl: mode === 'mx' ? null : wordsOf(instructions, version === '2'),
      remainingHopCount: mode === 'mx' ? null : INITIAL_HOP_COUNT - pushes,
      instructionBitmap: instructions,
      discard: false,
      hopExceeded: false,
      mtuExceeded: false,
      domainId: 0,
      domainInstructions: 0,
      domainFlags: 0,
    };
  }

  #postcardHeader(): IntHeaderInfo {
    const { settings, dropped } = this.#simulation;
    const wide = settings.report === '2.0';
    return {
      mode: 'xd',
      version: wide ? '2' : '1.0',
      encapsulation: 'none',
      hopMl: null,
      remainingHopCount: null,
      instructionBitmap: wide ? reportBits20(settings.instructions, dropped) : 0,
      discard: false,
      hopExceeded: false,
      mtuExceeded: false,
      domainId: 0,
      domainInstructions: 0,
      domainFlags: 0,
    };
  }

  /** The record of the simulation's present report. @param packet make the record of the INT packet itself */
  build(packet: boolean): TelemetryRecord {
    const simulation = this.#simulation;
    const { settings, flows, flow, hop, dropped } = simulation;
    const { mode, instructions, topology } = settings;
    const wide = settings.report === '2.0';
    // Packets are observed after the hop's push; reports hold the packet as received.
    const pushes = packet ? hop + 1 : hop;
    // The INT source inserts INT at egress, so packets that it loses have none.
    const hasInt = mode !== 'xd' && !(dropped && hop === 0);
    const hops: Hop[] = [];
    if (hasInt && mode === 'md') {
      for (let h = 0; h < pushes; h++) hops.push(this.#metadata(h, instructions, wide));
    }
    const path = hops.flatMap((one) => (one.nodeId === undefined ? [] : [one.nodeId]));
    const report = packet ? null : this.#report(hasInt);
    if (report !== null) path.push(report.nodeId);
    return {
      index: 0,
      status: 'ok',
      error: null,
      report,
      int: hasInt ? this.#header(pushes) : mode === 'xd' && !dropped ? this.#postcardHeader() : null,
      flow: flows.flow(flow),
      path,
      hops,
      ethernet: {
        source: topology.host(flows.sourceHost[flow]!).mac,
        destination: topology.host(flows.destinationHost[flow]!).mac,
      },
    };
  }
}
