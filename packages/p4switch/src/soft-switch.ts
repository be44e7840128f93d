/** A switch between ports: a program's machine, with output queues, in real time. */
import {
  type CreateSwitchOptions,
  createSwitch,
  type Digest,
  type DropReason,
  type InFlightPacket,
  type IrProgram,
  type SourceFile,
  type TrafficManager,
  type V1Switch,
} from '@int/p4vm';
import { PortQueues, type QueueCounters } from '@int/p4vm/internals';
import type { FrameTaker, Port } from './port.js';
import { PortError } from './port-error.js';

export interface SoftSwitchOptions extends Pick<CreateSwitchOptions, 'seed' | 'onLog' | 'maxPasses' | 'limits'> {
  /** The program's number of the control plane's port. Frames to it go to `onPacketIn`. Default: none. */
  readonly cpuPort?: number;
  /**
   * Rate of output ports in bits per second, for all or by number. Default: Infinity, as fast as the port takes frames.
   */
  readonly rateBps?: number | Readonly<Record<number, number>>;
  /** Capacity of each output queue in packets, for all ports or by number. Default 64, as in simple_switch. */
  readonly queuePackets?: number | Readonly<Record<number, number>>;
  /** Number of queues per port; the highest `priority` is served first. Default 1. */
  readonly priorityQueues?: number;
  /** Packets that may wait on their way back to the parser. Default 1024. */
  readonly recirculationPackets?: number;
}

/** Consumes a frame for the control plane, in its own memory. */
export type PacketInConsumer = (frame: Uint8Array) => void;

/** Packets that ended in the switch, by reason: those of the machine, and those of the ports' side. */
export type SwitchDropReason =
  | DropReason
  /** Sent by a port that the switch does not have. */
  | 'noPort'
  /** Received without a program to run. */
  | 'noPipeline'
  /** Caused an exception of the machine, which should not happen. */
  | 'fault';

/** What a switch has counted since it was made, with all its pipelines. */
export interface SwitchCounts {
  readonly received: number;
  readonly transmitted: number;
  /** Frames to and from the control plane. */
  readonly packetsIn: number;
  readonly packetsOut: number;
  readonly parserErrors: number;
  readonly checksumErrors: number;
  readonly ingressClones: number;
  readonly egressClones: number;
  readonly multicastCopies: number;
  readonly resubmitted: number;
  readonly recirculated: number;
  readonly digests: number;
  /** Packets that wait in output queues now. */
  readonly waiting: number;
  /** Pipelines loaded, the present one included. */
  readonly pipelines: number;
  readonly dropped: Readonly<Record<SwitchDropReason, number>>;
}

const MOST_PORT = 511;
const SUMS = [
  'transmitted',
  'parserErrors',
  'checksumErrors',
  'ingressClones',
  'egressClones',
  'multicastCopies',
  'resubmitted',
  'recirculated',
  'digests',
] as const;

/** Counts of machines, added up. */
class MachineSums {
  readonly counts = Object.fromEntries(SUMS.map((name) => [name, 0])) as Record<(typeof SUMS)[number], number>;
  readonly dropped = {} as Record<DropReason, number>;

  add({ statistics }: V1Switch): void {
    for (const name of SUMS) this.counts[name] += statistics[name];
    for (const [reason, count] of Object.entries(statistics.dropped) as [DropReason, number][]) {
      this.dropped[reason] = (this.dropped[reason] ?? 0) + count;
    }
  }
}

/** A port with what belongs to it in the switch. */
interface Attached {
  readonly number: number;
  readonly port: Port;
  readonly take: FrameTaker;
}

/** The queues of one port number, whether there is such a port or not. */
interface Output {
  readonly queues: PortQueues;
  attached: Attached | undefined;
}

/** A program at work. Packets in its queues stay with it until they have left. */
class Pipeline implements TrafficManager {
  readonly machine: V1Switch;
  readonly #owner: SwitchCore;
  /** Packets that it has handed to queues. */
  waiting = 0;

  constructor(program: string | SourceFile | IrProgram, options: CreateSwitchOptions, owner: SwitchCore) {
    this.#owner = owner;
    this.machine = createSwitch(program, { ...options, trafficManager: this });
  }

  pass(port: number, priority: number): boolean {
    return this.#owner.pass(port, priority);
  }

  enqueue(packet: InFlightPacket): boolean {
    return this.#owner.enqueue(packet, this);
  }

  reenter(packet: InFlightPacket): boolean {
    return this.#owner.reenter(packet, this);
  }

  setQueueDepth(packets: number, port?: number, priority?: number): void {
    this.#owner.set(port, (queues) => queues.setDepth(packets, priority));
  }

  setQueueRate(rate: number, port?: number, priority?: number): void {
    this.#owner.set(port, (queues) => queues.setRate(rate, priority));
  }
}

/** What a pipeline needs of its switch. */
interface SwitchCore {
  pass(port: number, priority: number): boolean;
  enqueue(packet: InFlightPacket, pipeline: Pipeline): boolean;
  reenter(packet: InFlightPacket, pipeline: Pipeline): boolean;
  set(port: number | undefined, change: (queues: PortQueues) => void): void;
}

/** The pipeline of each packet that waits. */
interface Held extends InFlightPacket {
  holder?: Pipeline;
}

/**
 * A software switch. `turn` does what there is to do now: it takes frames from the ports, runs them through the program,
 * and sends what leaves. A `ForwardingLoop` calls it. A packet goes on from ingress to egress at once if its port is free;
 * else it waits in a queue, and the program sees how long, and behind how many.
 */
export class SoftSwitch {
  /** Consumes frames to the control plane's port. */
  onPacketIn: PacketInConsumer = () => {};
  /** Consumes the digests of the program. */
  onDigest: (digest: Digest) => void = () => {};
  readonly #options: SoftSwitchOptions;
  readonly #attached: Attached[] = [];
  readonly #outputs: (Output | undefined)[] = [];
  readonly #core: SwitchCore;
  /** Packets on their way back to the parser. */
  #returning: Held[] = [];
  #pipeline: Pipeline | null = null;
  /** Pipelines that have been replaced, with packets that still wait. */
  #leaving: Pipeline[] = [];
  readonly #past = new MachineSums();
  #pipelines = 0;
  #received = 0;
  #packetsIn = 0;
  #packetsOut = 0;
  readonly #dropped = { noPort: 0, noPipeline: 0, fault: 0 };
  #startMs = performance.now();
  /** The time read last, in nanoseconds since the switch began. */
  #nowNs = 0;
  /** Bytes that the packet in egress has put on its wire. */
  #sentBytes = 0;
  /** Packets that wait in output queues. */
  #waiting = 0;

  /** @throws RangeError for an option out of range */
  constructor(options: SoftSwitchOptions = {}) {
    const { cpuPort, queuePackets = DEFAULT_QUEUE, priorityQueues = 1, recirculationPackets = 1024 } = options;
    if (cpuPort !== undefined) checkRange('cpuPort', cpuPort, 0, MOST_PORT);
    for (const packets of typeof queuePackets === 'number' ? [queuePackets] : Object.values(queuePackets)) {
      checkRange('queuePackets', packets, 1, 1 << 20);
    }
    checkRange('priorityQueues', priorityQueues, 1, 8);
    checkRange('recirculationPackets', recirculationPackets, 1, 1 << 20);
    this.#options = { ...options, queuePackets, priorityQueues, recirculationPackets };
    this.#core = {
      pass: (port, priority) => this.#pass(port, priority),
      enqueue: (packet, pipeline) => this.#enqueue(packet, pipeline),
      reenter: (packet, pipeline) => this.#reenter(packet, pipeline),
      set: (port, change) => this.#set(port, change),
    };
  }

  /** The machine of the present program; null without one. */
  get machine(): V1Switch | null {
    return this.#pipeline?.machine ?? null;
  }

  get cpuPort(): number | undefined {
    return this.#options.cpuPort;
  }

  /** The ports, in the order in which they were added. */
  get ports(): readonly { readonly number: number; readonly port: Port }[] {
    return this.#attached;
  }

  /**
   * Adds a port. @param number the program's number for it, 0 to 510
   * @throws PortError ERR_PORT_NUMBER if the number is taken or out of range
   */
  addPort(number: number, port: Port): void {
    if (!(Number.isInteger(number) && number >= 0 && number < MOST_PORT)) {
      throw new PortError('ERR_PORT_NUMBER', `port ${number}: ports have numbers from 0 to ${MOST_PORT - 1}`);
    }
    if (number === this.#options.cpuPort || this.#attached.some((each) => each.number === number)) {
      throw new PortError('ERR_PORT_NUMBER', `port ${number} is there already`);
    }
    const take: FrameTaker = (bytes, offset, length) => this.#receive(number, bytes, offset, length);
    const attached = { number, port, take };
    this.#attached.push(attached);
    this.#output(number).attached = attached;
  }

  /**
   * Makes a machine with a program, which `use` puts to work. Its clock, ports and queues are those of the switch.
   * @param onDigest consumes its digests; default: that of the switch
   * @param onWork called again and again meanwhile: {@link ForwardingLoop.meanwhile}
   * @throws P4Error if the program has errors or exceeds a limit
   */
  prepare(
    program: string | SourceFile | IrProgram,
    onDigest: (digest: Digest) => void = (digest) => this.onDigest(digest),
    onWork?: () => void,
  ): PreparedPipeline {
    const { seed, onLog, maxPasses, limits, priorityQueues } = this.#options;
    const options: CreateSwitchOptions = {
      ...(seed !== undefined && { seed }),
      ...(onLog !== undefined && { onLog }),
      ...(maxPasses !== undefined && { maxPasses }),
      limits,
      onWork,
      priorityQueues: priorityQueues!,
      clock: { nowUs: () => this.#readClock() },
      onDigest,
      onTransmit: (port, bytes, offset, length) => this.#transmit(port, bytes, offset, length),
    };
    return new Pipeline(program, options, this.#core);
  }

  /**
   * Puts a prepared pipeline to work in place of the present one, between two packets. Packets that wait in queues leave
   * by the program that put them there. Rates and depths that the control plane has set stay.
   * @param pipeline null: none, so that all frames are dropped
   */
  use(pipeline: PreparedPipeline | null): void {
    const before = this.#pipeline;
    if (before === pipeline) return;
    if (before !== null) {
      if (before.waiting > 0) this.#leaving.push(before);
      else this.#past.add(before.machine);
    }
    this.#pipeline = pipeline as Pipeline | null;
    if (pipeline !== null) this.#pipelines++;
  }

  /**
   * Loads a program: `prepare` and `use`.
   * @throws P4Error if the program has errors; the present one then goes on
   */
  load(program: string | SourceFile | IrProgram): V1Switch {
    const pipeline = this.prepare(program);
    this.use(pipeline);
    return pipeline.machine;
  }

  /**
   * Takes a frame of the control plane in, at the control plane's port.
   * @throws TypeError if there is no `cpuPort`
   */
  packetOut(frame: Uint8Array): void {
    const { cpuPort } = this.#options;
    if (cpuPort === undefined) throw new TypeError('the switch has no cpuPort');
    this.#packetsOut++;
    this.#receive(cpuPort, frame, 0, frame.length);
  }

  /**
   * Takes at most about `most` frames from each port, and sends what may leave.
   * @returns number of frames and packets that it has moved; 0: there was nothing to do
   */
  turn(most: number): number {
    let moved = 0;
    const attached = this.#attached;
    for (let i = 0; i < attached.length; i++) moved += attached[i]!.port.poll(most, attached[i]!.take);
    if (this.#returning.length > 0) moved += this.#goBack(most);
    if (this.#waiting > 0) moved += this.#serve();
    if (moved > 0) this.flush();
    return moved;
  }

  /** Lets frames leave that were sent outside of `turn`. */
  flush(): void {
    for (const { port } of this.#attached) port.flush();
  }

  /** The next time at which something is to be done though no frame arrives, in milliseconds of `performance.now()`. */
  get dueMs(): number {
    let due = Number.POSITIVE_INFINITY;
    if (this.#returning.length > 0) return 0;
    if (this.#waiting > 0) {
      for (const output of this.#outputs) {
        if (output === undefined || output.queues.waiting === 0) continue;
        // Not every port tells when it has room again.
        if (this.#room(output) === 0) return 0;
        due = Math.min(due, this.#startMs + output.queues.dueNs / 1e6);
      }
    }
    for (const { port } of this.#attached) due = Math.min(due, port.dueMs ?? Number.POSITIVE_INFINITY);
    return due;
  }

  /** Counters of a queue; undefined if no packet was ever sent there. */
  queue(port: number, priority = 0): QueueCounters | undefined {
    return this.#outputs[port]?.queues.counters(priority);
  }

  counts(): SwitchCounts {
    const sums = new MachineSums();
    Object.assign(sums.counts, this.#past.counts);
    Object.assign(sums.dropped, this.#past.dropped);
    for (const { machine } of this.#leaving) sums.add(machine);
    if (this.#pipeline !== null) sums.add(this.#pipeline.machine);
    return {
      received: this.#received,
      ...sums.counts,
      packetsIn: this.#packetsIn,
      packetsOut: this.#packetsOut,
      waiting: this.#waiting + this.#returning.length,
      pipelines: this.#pipelines,
      dropped: { ...EMPTY_DROPS, ...sums.dropped, ...this.#dropped },
    };
  }

  /** Sends what waits, within a limited time, and closes the ports. */
  async close(): Promise<void> {
    const end = performance.now() + DRAIN_MS;
    while (this.#waiting + this.#returning.length > 0 && performance.now() < end) {
      if (this.#goBack(64) + this.#serve() === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      this.flush();
    }
    await Promise.all(this.#attached.map(({ port }) => port.close()));
  }

  #readClock(): number {
    const ms = performance.now() - this.#startMs;
    this.#nowNs = ms * 1e6;
    return Math.floor(ms * 1000);
  }

  #receive(number: number, bytes: Uint8Array, offset: number, length: number): void {
    this.#received++;
    const pipeline = this.#pipeline;
    if (pipeline === null) {
      this.#dropped.noPipeline++;
      return;
    }
    try {
      pipeline.machine.receive(number, bytes, offset, length);
    } catch {
      this.#dropped.fault++;
    }
  }

  #output(port: number): Output {
    let output = this.#outputs[port];
    if (output === undefined) {
      const { rateBps = Number.POSITIVE_INFINITY, priorityQueues, queuePackets } = this.#options;
      const rate = typeof rateBps === 'number' ? rateBps : (rateBps[port] ?? Number.POSITIVE_INFINITY);
      if (!(rate > 0)) throw new RangeError(`rateBps of port ${port} must be above 0, not ${rate}`);
      const packets = typeof queuePackets === 'number' ? queuePackets : (queuePackets?.[port] ?? DEFAULT_QUEUE);
      output = { queues: new PortQueues(priorityQueues!, packets, 8e9 / rate), attached: undefined };
      for (const [of, change] of this.#settings) if (of === undefined || of === port) change(output.queues);
      this.#outputs[port] = output;
    }
    return output;
  }

  /** Settings of the control plane, for ports that come later. */
  #settings: (readonly [port: number | undefined, change: (queues: PortQueues) => void])[] = [];

  #set(port: number | undefined, change: (queues: PortQueues) => void): void {
    // One for all ports replaces nothing that is kept: what is kept is bounded.
    if (this.#settings.length >= MOST_SETTINGS) this.#settings.shift();
    this.#settings.push([port, change]);
    this.#outputs.forEach((output, number) => {
      if (output !== undefined && (port === undefined || port === number)) change(output.queues);
    });
  }

  #room(output: Output): number {
    return output.attached === undefined ? 1 : output.attached.port.room();
  }

  #pass(port: number, priority: number): boolean {
    const output = this.#outputs[port] ?? this.#output(port);
    return this.#room(output) > 0 && output.queues.pass(priority, this.#nowNs) && this.#passed(output);
  }

  /** The wire of a packet that has passed is busy from now on; how long is known only when it leaves. */
  #passed(output: Output): true {
    this.#passing = output;
    return true;
  }

  /** The port whose queues the packet in egress has passed or left. */
  #passing: Output | null = null;

  #enqueue(packet: Held, pipeline: Pipeline): boolean {
    const output = this.#outputs[packet.port] ?? this.#output(packet.port);
    if (!output.queues.enqueue(packet, this.#nowNs)) return false;
    packet.holder = pipeline;
    pipeline.waiting++;
    this.#waiting++;
    return true;
  }

  #reenter(packet: Held, pipeline: Pipeline): boolean {
    if (this.#returning.length >= this.#options.recirculationPackets!) return false;
    packet.holder = pipeline;
    pipeline.waiting++;
    this.#returning.push(packet);
    return true;
  }

  #goBack(most: number): number {
    const packets = this.#returning.splice(0, most);
    for (const packet of packets) this.#resume(packet, (machine) => machine.reenter(packet));
    return packets.length;
  }

  #serve(): number {
    this.#readClock();
    let moved = 0;
    for (const output of this.#outputs) {
      if (output === undefined || output.queues.waiting === 0) continue;
      while (this.#room(output) > 0) {
        const packet = output.queues.take(this.#nowNs);
        if (packet === undefined) break;
        this.#waiting--;
        this.#sentBytes = 0;
        this.#passing = null;
        this.#resume(packet, (machine) => machine.dequeue(packet));
        output.queues.sent(this.#sentBytes);
        moved++;
      }
    }
    return moved;
  }

  #resume(packet: Held, how: (machine: V1Switch) => void): void {
    const pipeline = packet.holder!;
    delete packet.holder;
    pipeline.waiting--;
    try {
      how(pipeline.machine);
    } catch {
      this.#dropped.fault++;
    }
    if (pipeline.waiting > 0 || pipeline === this.#pipeline) return;
    const at = this.#leaving.indexOf(pipeline);
    if (at < 0) return;
    this.#leaving.splice(at, 1);
    this.#past.add(pipeline.machine);
  }

  #transmit(port: number, bytes: Uint8Array, offset: number, length: number): void {
    this.#sentBytes += length;
    const output = this.#outputs[port];
    if (this.#passing !== null) {
      if (this.#passing === output) output.queues.sent(length);
      this.#passing = null;
    }
    if (port === this.#options.cpuPort) {
      this.#packetsIn++;
      this.onPacketIn(bytes.slice(offset, offset + length));
    } else if (output?.attached === undefined) this.#dropped.noPort++;
    else output.attached.port.send(bytes, offset, length);
  }
}

/** A pipeline that `SoftSwitch.prepare` has made. */
export interface PreparedPipeline {
  /** Its tables may be filled before it is put to work. */
  readonly machine: V1Switch;
}

const DRAIN_MS = 200;
const DEFAULT_QUEUE = 64;
const MOST_SETTINGS = 4096;
const EMPTY_DROPS: Readonly<Record<DropReason, number>> = /* @__PURE__ */ Object.freeze({
  ingress: 0,
  egress: 0,
  emptyGroup: 0,
  noSession: 0,
  priority: 0,
  queueFull: 0,
  loop: 0,
  steps: 0,
  size: 0,
  memory: 0,
});

function checkRange(name: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} must be an integer from ${least} to ${most}, not ${value}`);
  }
}
