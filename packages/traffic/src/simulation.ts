/**
 * The simulation for both forms of output: packets through the fabric in virtual time.
 *
 * All visits of packets to switches happen in order of time, so the queues advance in order of time. All links have the
 * same delay, so the order of arrivals is the order of departures, and one queue of departures suffices. Random draws
 * do not depend on the mode or the report version: one seed gives the same network for all of them.
 */

import { Random, Zipf } from '@int/random';
import { EventQueue, widen } from './events.js';
import { Fabric, pipeOf } from './fabric.js';
import { FlowTable } from './flows.js';
import type { TrafficSettings } from './options.js';

const INITIAL_SLOTS = 64;
/** An event's value: slot << 4 | hop << 1 | dropped. A path has at most five hops. */
const DROPPED = 1;

/** Runs packets through a fabric and stops at each report. */
export class Simulation {
  readonly settings: TrafficSettings;
  readonly flows: FlowTable;
  readonly fabric: Fabric;
  readonly #popularity: Zipf;
  readonly #arrivals: Random;
  readonly #choices: Random;
  readonly #chances: Random;
  readonly #events = new EventQueue();
  readonly #stride: number;
  readonly #linkDelayNs: number;
  readonly #meanGapNs: number;
  readonly #atSinkOnly: boolean;
  /** Stop at packets at the hop before their sink, and not at reports. */
  readonly #packets: boolean;
  readonly #sequences: Uint32Array;
  #clock = 0;
  #nextArrival: number;
  #freed = -1;
  #freeSlots: Int32Array;
  #freeCount = 0;

  // Packets in transit. A packet's hops start at slot * stride.
  #slotFlow: Int32Array;
  /** Arrival at each hop, in nanoseconds from the start. */
  hopArrival: Float64Array;
  hopLatency: Uint32Array;
  hopCells: Uint32Array;
  hopUtilization: Uint16Array;
  hopBuffer: Uint32Array;
  hopCongested: Uint8Array;

  // The result of next().
  /** Index of the flow. */
  flow = 0;
  /** The reporting hop, from 0. */
  hop = 0;
  /** Index of the packet's first hop in the hop columns. */
  base = 0;
  /** Whether the report is about a drop at this hop. */
  dropped = false;
  /** Time at which the packet left the reporting hop or was lost there, in nanoseconds from the start. */
  timeNs = 0;
  /** Hardware id of the packet's ingress pipe. */
  hwId = 0;
  /** Sequence number of the report: 32 bits, from 0, for each (node, hardware id). */
  sequence = 0;

  /** @param packets stop at packets that leave the hop before their sink, and not at reports */
  constructor(settings: TrafficSettings, packets = false) {
    const { topology } = settings;
    if (packets && settings.mode === 'xd') throw new RangeError('packets of mode xd carry no INT');
    const random = new Random(settings.seed);
    this.settings = settings;
    this.#packets = packets;
    this.flows = new FlowTable(
      topology,
      { count: settings.flows, tcpShare: settings.tcpShare },
      random.derive('flows'),
    );
    this.fabric = new Fabric(settings, random.derive('fabric'));
    this.#popularity = new Zipf(settings.flows, settings.zipfExponent);
    this.#arrivals = random.derive('arrivals');
    this.#choices = random.derive('choices');
    this.#chances = random.derive('chances');
    this.#stride = topology.maxHops;
    this.#linkDelayNs = settings.fabric.linkDelayNs;
    this.#meanGapNs = 1e9 / settings.ratePps;
    this.#atSinkOnly = settings.mode === 'md';
    this.#sequences = new Uint32Array(topology.switches.length * 64).fill(settings.firstSequence);
    this.#freeSlots = new Int32Array(INITIAL_SLOTS);
    this.#slotFlow = new Int32Array(INITIAL_SLOTS);
    const hops = INITIAL_SLOTS * this.#stride;
    this.hopArrival = new Float64Array(hops);
    this.hopLatency = new Uint32Array(hops);
    this.hopCells = new Uint32Array(hops);
    this.hopUtilization = new Uint16Array(hops);
    this.hopBuffer = new Uint32Array(hops);
    this.hopCongested = new Uint8Array(hops);
    for (let slot = INITIAL_SLOTS - 1; slot >= 0; slot--) this.#freeSlots[this.#freeCount++] = slot;
    this.#nextArrival = this.#drawArrival();
  }

  #drawArrival(): number {
    this.#clock += this.#arrivals.exponential(this.#meanGapNs);
    return Math.floor(this.#clock);
  }

  /** Goes on to the next report or packet, and sets the fields. */
  next(): void {
    if (this.#freed >= 0) {
      this.#freeSlots[this.#freeCount++] = this.#freed;
      this.#freed = -1;
    }
    while (!this.#step());
  }

  #step(): boolean {
    const { flows } = this;
    const events = this.#events;
    const due = events.nextTime;
    // Like a packet from a switch, an arrival from a host at t counts as a departure one link delay earlier.
    if (this.#nextArrival - this.#linkDelayNs <= due) {
      const slot = this.#allocate();
      this.#slotFlow[slot] = this.#popularity.sample(this.#choices) - 1;
      const arrival = this.#nextArrival;
      this.#nextArrival = this.#drawArrival();
      this.#arrive(slot, 0, arrival);
      return false;
    }
    const event = events.pop();
    const slot = event >> 4;
    const hop = (event >> 1) & 7;
    const dropped = (event & DROPPED) !== 0;
    const flow = this.#slotFlow[slot]!;
    const last = flows.hops[flow]! - 1;
    const ends = dropped || hop === last;
    if (!ends) this.#arrive(slot, hop + 1, due + this.#linkDelayNs);
    if (ends) this.#freed = slot;
    const stops = this.#packets ? !dropped && hop === last - 1 : dropped || hop === last || !this.#atSinkOnly;
    if (!stops) {
      if (ends) {
        this.#freeSlots[this.#freeCount++] = slot;
        this.#freed = -1;
      }
      return false;
    }
    const at = flow * this.#stride + hop;
    this.flow = flow;
    this.hop = hop;
    this.base = slot * this.#stride;
    this.dropped = dropped;
    this.timeNs = due;
    this.hwId = pipeOf(flows.hopIngress[at]!);
    if (!this.#packets) {
      const counter = flows.hopSwitch[at]! * 64 + this.hwId;
      this.sequence = this.#sequences[counter]!;
      this.#sequences[counter] = this.sequence + 1;
    }
    return true;
  }

  #arrive(slot: number, hop: number, timeNs: number): void {
    const { fabric, flows } = this;
    const at = this.#slotFlow[slot]! * this.#stride + hop;
    const to = slot * this.#stride + hop;
    fabric.pass(flows.hopSwitch[at]!, flows.hopEgress[at]!, timeNs, this.#chances.uniform());
    this.hopArrival[to] = timeNs;
    this.hopLatency[to] = fabric.latencyNs;
    this.hopCells[to] = fabric.cells;
    this.hopUtilization[to] = fabric.utilization;
    this.hopBuffer[to] = fabric.bufferCells;
    this.hopCongested[to] = fabric.congested ? 1 : 0;
    this.#events.push(timeNs + fabric.latencyNs, (slot << 4) | (hop << 1) | (fabric.dropped ? DROPPED : 0));
  }

  #allocate(): number {
    if (this.#freeCount === 0) this.#grow();
    return this.#freeSlots[--this.#freeCount]!;
  }

  #grow(): void {
    const old = this.#slotFlow.length;
    const slots = old * 2;
    if (slots > 1 << 26) throw new RangeError('too many packets under way: lower ratePps or the delays');
    const hops = slots * this.#stride;
    this.#slotFlow = widen(new Int32Array(slots), this.#slotFlow);
    this.hopArrival = widen(new Float64Array(hops), this.hopArrival);
    this.hopLatency = widen(new Uint32Array(hops), this.hopLatency);
    this.hopCells = widen(new Uint32Array(hops), this.hopCells);
    this.hopUtilization = widen(new Uint16Array(hops), this.hopUtilization);
    this.hopBuffer = widen(new Uint32Array(hops), this.hopBuffer);
    this.hopCongested = widen(new Uint8Array(hops), this.hopCongested);
    this.#freeSlots = new Int32Array(slots);
    for (let slot = slots - 1; slot >= old; slot--) this.#freeSlots[this.#freeCount++] = slot;
  }
}
