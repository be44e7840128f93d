/** A switch with a P4 program, as a node of a network. */
import {
  type CreateSwitchOptions,
  createSwitch,
  type Digest,
  type InFlightPacket,
  type IrProgram,
  type SourceFile,
  type TrafficManager,
  type V1Switch,
} from '@int/p4vm';
import type { Behaviour } from '../behaviour.js';
import { checkInteger, checkLimit, checkRate } from '../checks.js';
import type { Node } from '../network-node.js';
import { OutputPort, type QueueCounters } from './output-port.js';

/** Options of a switch in addition to its program. */
export interface P4SwitchOptions
  extends Pick<
    CreateSwitchOptions,
    'seed' | 'onDigest' | 'onLog' | 'maxPasses' | 'resolve' | 'defines' | 'undefined' | 'poisonSeed' | 'onUndefinedRead'
  > {
  /** Commands of simple_switch_CLI, one per line. They run at the start, and again when the switch is repaired. */
  readonly commands?: string;
  /**
   * Rate of output ports in bits per second, for all or by the program's port number; Infinity: no transmission time.
   * If links have no rate, queues build up here, and the program sees them. Default: Infinity.
   */
  readonly rateBps?: number | Readonly<Record<number, number>>;
  /** Capacity of each output queue in packets, without the one on the wire. Default: 64, as in simple_switch. */
  readonly queuePackets?: number;
  /** Number of queues per port; the highest `priority` is served first. Default: 1. */
  readonly priorityQueues?: number;
  /** Delay of recirculated and resubmitted packets on their way back to the parser, integer nanoseconds. Default: 0. */
  readonly recirculationNs?: number;
  /** The program's number for each port of the node. Other ports keep their number. */
  readonly ports?: Readonly<Record<number, number>>;
  /** The program's number for the control plane's port. Frames to it go to `onControl` and not to a link. */
  readonly controlPort?: number;
  /** Called with each frame to the control port, in its own memory. */
  readonly onControl?: (frame: Uint8Array, node: Node) => void;
}

/**
 * Runs each frame through a P4 program. The program's clock is the node's, in microseconds. Queue depths and queueing
 * times follow the network's virtual time.
 *
 * It is a `MachineHost` for `P4vmTarget` of @int/p4runtime: so controllers program it over P4Runtime while the network runs,
 * and may give it another program.
 */
export class P4Switch implements Behaviour, TrafficManager {
  #machine: V1Switch;
  #control: ((frame: Uint8Array) => void) | undefined;
  #node: Node | undefined;
  readonly #options: P4SwitchOptions;
  readonly #priorities: number;
  readonly #queuePackets: number;
  readonly #recirculationNs: number;
  readonly #outputs = new Map<number, OutputPort>();
  readonly #toProgram = new Map<number, number>();
  readonly #toNode = new Map<number, number>();
  /** The control plane's settings of queues, to repeat them for later ports. */
  readonly #settings: ((port: number, output: OutputPort) => void)[] = [];
  #sentBytes = 0;
  #portListener: (() => void) | undefined;
  /** Packets of the present machine on their way back to its parser. */
  #returning = 0;
  /**
   * Packets that were lost within the switch, beside those that its machine has dropped: they waited in queues, or on their way
   * back to the parser, when another machine took the place of theirs, or the node failed.
   */
  readonly discarded: { readonly replaced: number; readonly failed: number } = { replaced: 0, failed: 0 };

  /**
   * @param source a program's text or file, or the result of `loadProgram`
   * @throws P4Error if the program has errors; RangeError for an option out of range; TypeError for a duplicate port or
   *   a refused command
   */
  constructor(source: string | SourceFile | IrProgram, options: P4SwitchOptions = {}) {
    this.#options = options;
    this.#priorities = checkInteger('priorityQueues', options.priorityQueues ?? 1, 1, 8);
    this.#queuePackets = checkLimit('queuePackets', options.queuePackets ?? 64, 1);
    this.#recirculationNs = checkInteger('recirculationNs', options.recirculationNs ?? 0, 0);
    for (const [from, to] of Object.entries(options.ports ?? {})) this.#map(Number(from), to);
    this.#machine = this.createMachine(source, options.onDigest);
    this.#command();
  }

  /** The machine: tables, registers, counters, statistics. */
  get machine(): V1Switch {
    return this.#machine;
  }

  /**
   * Makes a machine with another program, for {@link useMachine}.
   *
   * @throws P4Error if the program has errors
   */
  createMachine(program: string | SourceFile | IrProgram, onDigest?: (digest: Digest) => void): V1Switch {
    return createSwitch(program, {
      ...this.#options,
      onDigest: onDigest ?? (() => {}),
      priorityQueues: this.#priorities,
      clock: { nowUs: () => Math.max(0, Math.floor((this.#node?.clockNs ?? 0) / 1000)) },
      trafficManager: this,
      onTransmit: (port, bytes, offset, length) => this.#transmit(port, bytes.slice(offset, offset + length)),
    });
  }

  /**
   * Runs frames through a machine from now on, in place of the one before. Packets that wait within the switch are lost, and
   * counted in `discarded`.
   */
  useMachine(machine: V1Switch): void {
    if (machine === this.#machine) return;
    this.#discard('replaced');
    this.#machine = machine;
  }

  /** Sets a receiver of frames to the control port, beside `onControl`. */
  setControl(receiver: ((frame: Uint8Array) => void) | undefined): void {
    this.#control = receiver;
  }

  /** Sets who is told when a port gets a link, or its link goes down or comes up. */
  setPortListener(listener: (() => void) | undefined): void {
    this.#portListener = listener;
  }

  /** Whether the program's port has a link, or is the control port. */
  hasPort(port: number): boolean {
    if (port === this.#options.controlPort) return true;
    return this.#node?.neighbour(this.#toNode.get(port) ?? port) !== undefined;
  }

  /** Whether the program's port has a link that is up, or is the control port. */
  isPortUp(port: number): boolean {
    if (port === this.#options.controlPort) return true;
    return this.#node?.isPortUp(this.#toNode.get(port) ?? port) ?? false;
  }

  /** Nanoseconds of the node's clock. */
  nowNs(): bigint {
    return BigInt(this.#node?.clockNs ?? 0);
  }

  /** Calls back after a delay of the network's virtual time, also while the node is down. @returns a function that cancels it */
  schedule(delayNs: number, callback: () => void): () => void {
    const { network } = this.node;
    const timer = network.at(Math.ceil(network.nowNs + delayNs), callback);
    return () => timer.cancel();
  }

  /** @throws TypeError before the switch is added to a network */
  get node(): Node {
    if (this.#node === undefined) throw new TypeError('the switch is no node of a network yet: Network.add it');
    return this.#node;
  }

  start(node: Node): void {
    if (this.#node !== undefined) throw new TypeError(`the switch is node "${this.#node.name}" already`);
    this.#node = node;
  }

  portChanged(): void {
    this.#portListener?.();
  }

  receive(frame: Uint8Array, port: number): void {
    this.machine.receive(this.#toProgram.get(port) ?? port, frame);
  }

  /** Injects a frame from the control plane at the control port. */
  inject(frame: Uint8Array): void {
    const { controlPort } = this.#options;
    if (controlPort === undefined) throw new TypeError('the switch has no controlPort');
    if (this.node.isUp) this.machine.receive(controlPort, frame);
  }

  /** Counters of a queue by the program's port number; undefined if no packet was ever sent there. */
  queue(port: number, priority = 0): QueueCounters | undefined {
    return this.#outputs.get(port)?.counters(priority);
  }

  fail(): void {
    this.#settings.length = 0;
    this.#discard('failed');
    for (const output of this.#outputs.values()) {
      output.setDepth(this.#queuePackets);
      output.setRate(0);
    }
    this.machine.reset();
  }

  repair(): void {
    this.#command();
  }

  /** Called by the machine: part of the traffic manager. */
  enqueue(packet: InFlightPacket): boolean {
    return this.#output(packet.port).enqueue(packet);
  }

  /** Called by the machine: part of the traffic manager. */
  reenter(packet: InFlightPacket): boolean {
    const machine = this.#machine;
    this.#returning++;
    this.node.after(this.#recirculationNs, () => {
      // A machine that was replaced has ended, and its packets with it.
      if (machine !== this.#machine) return;
      this.#returning--;
      machine.reenter(packet);
    });
    return true;
  }

  /** Called by the machine: part of the traffic manager. */
  setQueueDepth(packets: number, port?: number, priority?: number): void {
    this.#set(port, (output) => output.setDepth(packets, priority));
  }

  /** Called by the machine: part of the traffic manager. */
  setQueueRate(rate: number, port?: number, priority?: number): void {
    this.#set(port, (output) => output.setRate(rate, priority));
  }

  /** Called by an output port: runs egress for a packet. Returns the bytes sent on the wire. */
  depart(packet: InFlightPacket): number {
    this.#sentBytes = 0;
    this.machine.dequeue(packet);
    return this.#sentBytes;
  }

  #discard(reason: 'replaced' | 'failed'): void {
    let count = this.#returning;
    for (const output of this.#outputs.values()) count += output.clear();
    this.#returning = 0;
    (this.discarded as Record<typeof reason, number>)[reason] += count;
  }

  #map(from: number, to: number): void {
    checkInteger('port', from, 0, 0xffff);
    checkInteger('port of the program', to, 0, 511);
    if (this.#toNode.has(to)) throw new TypeError(`two ports are port ${to} of the program`);
    this.#toProgram.set(from, to);
    this.#toNode.set(to, from);
  }

  #command(): void {
    for (const { error, command } of this.machine.commands(this.#options.commands ?? '')) {
      if (error !== undefined) throw new TypeError(`${command}: ${error.message}`);
    }
  }

  #set(port: number | undefined, change: (output: OutputPort) => void): void {
    this.#settings.push((of, output) => {
      if (port === undefined || port === of) change(output);
    });
    for (const [number, output] of this.#outputs) if (port === undefined || port === number) change(output);
  }

  #output(port: number): OutputPort {
    let output = this.#outputs.get(port);
    if (output === undefined) {
      const { rateBps = Number.POSITIVE_INFINITY } = this.#options;
      const rate = typeof rateBps === 'number' ? rateBps : (rateBps[port] ?? Number.POSITIVE_INFINITY);
      output = new OutputPort(this, this.#priorities, this.#queuePackets, 8e9 / checkRate('rateBps', rate));
      for (const setting of this.#settings) setting(port, output);
      this.#outputs.set(port, output);
    }
    return output;
  }

  #transmit(port: number, frame: Uint8Array): void {
    this.#sentBytes += frame.length;
    if (port === this.#options.controlPort) {
      this.#options.onControl?.(frame, this.node);
      this.#control?.(frame);
    } else this.node.send(this.#toNode.get(port) ?? port, frame);
  }
}
