/** The state of a fabric's ports over virtual time. */

import type { Random } from '@int/random';
import type { TrafficSettings } from './options.js';
import { FluidQueue } from './queue.js';
import type { Topology } from './topology.js';
import { PACKETS_PER_SLOT, SLOT_NS } from './workload.js';

/** Bounds of the latency of an idle switch. Each switch has its own value. */
const LEAST_SWITCH_NS = 600;
const SWITCH_SPREAD_NS = 300;
/** Ports of a switch that share a pipe: one hardware id. */
const PORTS_PER_PIPE = 8;
/** 100 % in basis points. */
const FULL = 10_000;

/** Hardware id of a port's pipe: eight ports per pipe, 6 bits. */
export function pipeOf(port: number): number {
  return Math.floor((port - 1) / PORTS_PER_PIPE) & 0x3f;
}

/** Queue id of a port's only queue: the port's number, 8 bits. */
export function queueIdOf(port: number): number {
  return port & 0xff;
}

/** Logical interface of a port (instruction bit 6): above the range of the physical ones. */
export function logicalInterfaceOf(port: number): number {
  return 0x10000 + port;
}

/**
 * Queues, links and buffers of the switches. {@link pass} writes its results to the fields below; times must not
 * decrease from call to call. A queue is created on first use, with its own random stream.
 */
export class Fabric {
  readonly #topology: Topology;
  readonly #random: Random;
  readonly #settings: TrafficSettings;
  readonly #queues: (FluidQueue | undefined)[];
  readonly #lastDeparture: Float64Array;
  readonly #baseLatency: Uint16Array;
  readonly #hotspotPorts: Set<number>;
  readonly #cellsPerNs: number;
  readonly #thresholdNs: number;
  /** Time of a full-size packet on the link. A slot at line rate has twenty of them. */
  readonly #packetNs: number;
  readonly #withBuffer: boolean;

  /** The packet is lost: the queue is full. */
  dropped = false;
  /** Queue occupancy on arrival, in cells. */
  cells = 0;
  /** The queue length is at least the threshold. */
  congested = false;
  /** Time in the switch, in whole nanoseconds. */
  latencyNs = 0;
  /** Utilisation of the egress link in basis points. */
  utilization = 0;
  /**
   * Occupancy of the switch's shared buffer in cells: the sum of its queues. Only with instruction bit 8, otherwise 0.
   */
  bufferCells = 0;

  constructor(settings: TrafficSettings, random: Random) {
    const { topology, fabric } = settings;
    this.#topology = topology;
    this.#settings = settings;
    this.#random = random.derive('queues');
    this.#queues = new Array<FluidQueue | undefined>(topology.portCount).fill(undefined);
    this.#lastDeparture = new Float64Array(topology.portCount);
    const switches = random.derive('switches');
    this.#baseLatency = Uint16Array.from(topology.switches, () => LEAST_SWITCH_NS + switches.integer(SWITCH_SPREAD_NS));
    this.#cellsPerNs = fabric.lineRateBps / 8e9 / fabric.cellBytes;
    this.#thresholdNs = fabric.queueThresholdUs * 1000;
    this.#packetNs = SLOT_NS / PACKETS_PER_SLOT;
    this.#withBuffer = (settings.instructions & 0x80) !== 0;

    const uplinks: number[] = [];
    for (let edge = 0; edge < topology.edgeCount; edge++) {
      for (const port of topology.uplinks(edge)) uplinks.push(topology.portIndex(edge, port));
    }
    this.#hotspotPorts = new Set(random.derive('hotspots').shuffle(uplinks).slice(0, fabric.hotspots));
  }

  /** The ports with episodes of overload, in order of switch index and port. */
  hotspots(): { switchIndex: number; port: number }[] {
    const found: { switchIndex: number; port: number }[] = [];
    for (let edge = 0; edge < this.#topology.edgeCount; edge++) {
      for (const port of this.#topology.uplinks(edge)) {
        if (this.#hotspotPorts.has(this.#topology.portIndex(edge, port))) found.push({ switchIndex: edge, port });
      }
    }
    return found;
  }

  /** Latency of a switch without queueing, in nanoseconds. */
  baseLatencyNs(switchIndex: number): number {
    return this.#baseLatency[switchIndex]!;
  }

  #queue(index: number): FluidQueue {
    let queue = this.#queues[index];
    if (queue === undefined) {
      const { fabric, workload } = this.#settings;
      queue = new FluidQueue(this.#random.derive('port', index), {
        workload,
        capNs: fabric.queueCapUs * 1000,
        episodes: this.#hotspotPorts.has(index) ? fabric.episodes : null,
      });
      this.#queues[index] = queue;
    }
    return queue;
  }

  /**
   * Simulates a packet that arrives at a switch and leaves by a port.
   * @param chance uniform in [0, 1): decides about loss, and about the wait for a packet in transmission if the queue
   *   is empty
   */
  pass(switchIndex: number, port: number, timeNs: number, chance: number): void {
    const first = this.#topology.portIndex(switchIndex, 1);
    const index = first + port - 1;
    const queue = this.#queue(index);
    queue.advance(timeNs);
    const delay = queue.delayNs(timeNs);
    this.cells = Math.floor(delay * this.#cellsPerNs);
    this.congested = delay >= this.#thresholdNs;
    this.utilization = Math.round(queue.utilization(timeNs) * FULL);
    this.bufferCells = this.#withBuffer ? this.#cellsOf(first, switchIndex, timeNs) : 0;
    this.dropped = chance < queue.lossShare(timeNs);
    if (this.dropped) {
      this.latencyNs = 0;
      return;
    }
    // Without a queue the link is busy for this share of the time: the packet waits for the rest of another packet.
    const wait = delay > 0 || chance >= queue.rate ? 0 : (chance / Math.min(1, queue.rate)) * this.#packetNs;
    const departure = timeNs + this.#baseLatency[switchIndex]! + Math.floor(delay + wait);
    // This wait must not let a packet overtake another: first in, first out.
    const leaves = Math.max(departure, this.#lastDeparture[index]!);
    this.#lastDeparture[index] = leaves;
    this.latencyNs = leaves - timeNs;
  }

  #cellsOf(first: number, switchIndex: number, timeNs: number): number {
    const ports = this.#topology.switches[switchIndex]!.ports;
    let cells = 0;
    for (let index = first; index < first + ports; index++) {
      const queue = this.#queue(index);
      queue.advance(timeNs);
      cells += Math.floor(queue.delayNs(timeNs) * this.#cellsPerNs);
    }
    return Math.min(cells, 0xfffffe);
  }
}
