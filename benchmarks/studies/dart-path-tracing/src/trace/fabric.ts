/** The fabric and its flows: made by both processes from the same seed. */
import type { Flow } from '@int/codec';
import { fixedKeyRows, flowKey, type KeyRows, pathValue } from '@int/dart';
import { Random } from '@int/random';
import { FlowTable, fatTree, type Topology } from '@int/traffic';

/** Switches between hosts of different pods: edge, aggregation, core, aggregation, edge. */
export const HOPS = 5;
/** Node ids of 32 bits. */
export const VALUE_BYTES = HOPS * 4;
const KEY_BYTES = 13;
const FIRST_ROUND = 1.3;

export interface FabricOptions {
  /** Ports of every switch: even, 4 to 64. */
  readonly ports: number;
  readonly flows: number;
  readonly seed: number;
}

/** Flows between pods of a fat-tree, with the paths that the fabric sends them on. Flow 0 is the first to be reported. */
export class Fabric {
  readonly topology: Topology;
  readonly flows: number;
  /** Row i is flow i. */
  readonly keys: KeyRows;
  readonly values: Uint8Array;
  /** The edge switch at which flow i leaves the fabric: the INT sink, which reports. From 0. */
  readonly sinks: Uint16Array;
  readonly #table: FlowTable;
  readonly #rows: Uint32Array;

  constructor({ ports, flows, seed }: FabricOptions) {
    this.topology = fatTree({ k: ports });
    this.flows = flows;
    // Of all pairs of edge switches, those in one pod are left out; if that leaves too few flows, once more with more.
    let table = this.#tableOf(Math.ceil((flows + 100) * FIRST_ROUND), seed);
    for (let rows = this.#countFull(table); rows < flows; rows = this.#countFull(table)) {
      table = this.#tableOf(table.size * 2, seed);
    }
    this.#table = table;
    this.#rows = new Uint32Array(flows);
    this.sinks = new Uint16Array(flows);
    const keys = new Uint8Array(flows * KEY_BYTES);
    this.values = new Uint8Array(flows * VALUE_BYTES);
    for (let row = 0, flow = 0; flow < flows; row++) {
      if (table.hops[row] !== HOPS) continue;
      this.#rows[flow] = row;
      this.sinks[flow] = table.hopSwitch[(row + 1) * HOPS - 1]!;
      keys.set(flowKey(table.flow(row)), flow * KEY_BYTES);
      this.values.set(pathValue(this.pathOf(flow), VALUE_BYTES), flow * VALUE_BYTES);
      flow++;
    }
    this.keys = fixedKeyRows(keys, KEY_BYTES);
  }

  /** Node ids of the switches that a flow passes. */
  pathOf(flow: number): number[] {
    const row = this.#rows[flow]!;
    const switches = this.#table.hopSwitch.subarray(row * HOPS, (row + 1) * HOPS);
    return [...switches].map((index) => this.topology.switches[index]!.id);
  }

  flow(flow: number): Flow {
    return this.#table.flow(this.#rows[flow]!);
  }

  /** The name of a switch. */
  nameOf(node: number): string {
    return this.topology.switches[node - 1]?.name ?? `node ${node}`;
  }

  #tableOf(count: number, seed: number): FlowTable {
    return new FlowTable(this.topology, { count, tcpShare: 0.8 }, new Random(seed));
  }

  #countFull(table: FlowTable): number {
    return table.hops.reduce((sum, hops) => sum + (hops === HOPS ? 1 : 0), 0);
  }
}
