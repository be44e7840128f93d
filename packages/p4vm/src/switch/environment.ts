import type { Limits } from '../budget/limits.js';
import type { Digest } from '../externs/digest.js';
import type { UndefinedRead } from '../poison/undefined-reads.js';
import type { InFlightPacket } from './in-flight.js';

/** The clock of a switch: whole microseconds since the switch began. It never goes back. */
export interface SwitchClock {
  nowUs(): number;
}

/** A clock that the user moves. It is the default, so that runs repeat exactly. */
export class VirtualClock implements SwitchClock {
  #nowUs = 0;

  nowUs(): number {
    return this.#nowUs;
  }

  /** Sets the time. @throws RangeError if `timeUs` lies in the past or is no whole number of microseconds */
  moveTo(timeUs: number): void {
    if (!Number.isSafeInteger(timeUs) || timeUs < this.#nowUs) {
      throw new RangeError(`time ${timeUs} us: a whole number, not before ${this.#nowUs}`);
    }
    this.#nowUs = timeUs;
  }

  /** Moves the time on. */
  advance(microseconds: number): void {
    this.moveTo(this.#nowUs + microseconds);
  }
}

/**
 * The output queues between ingress and egress. Without a manager packets go to egress at once, in order. A manager
 * keeps each packet that it accepts, and returns it with `V1Switch.dequeue` at any later time.
 */
export interface TrafficManager {
  /**
   * Offers a packet for the queue of `packet.port` and `packet.priority`. The manager may set `packet.enqueueDepth`
   * (packets waiting in that queue, initially 0). It returns false to refuse the packet, as the queue is full.
   */
  enqueue(packet: InFlightPacket): boolean;
  /**
   * Asked before a packet is put into a queue: whether it may go on to egress at once, because nothing waits for its port
   * and the wire is free. Without this method every packet is offered to `enqueue`.
   */
  pass?(port: number, priority: number): boolean;
  /**
   * Offers a packet that goes back to the parser; `packet.reentry` is the reason. The manager returns it later with
   * `V1Switch.reenter`. It returns false to refuse the packet. Without this method packets go back at once.
   */
  reenter?(packet: InFlightPacket): boolean;
  /** The control plane sets the capacity of queues in packets: for all ports, for one, or for one queue of it. */
  setQueueDepth?(packets: number, port?: number, priority?: number): void;
  /** The control plane sets the rate of queues in packets per second; 0: no limit. */
  setQueueRate?(rate: number, port?: number, priority?: number): void;
}

/** Consumes a packet that leaves the switch: `length` bytes of `bytes` from `offset`, valid only during the call. */
export type TransmitConsumer = (port: number, bytes: Uint8Array, offset: number, length: number) => void;

/** The environment of a switch. Everything has a default. */
export interface SwitchEnvironment {
  readonly clock?: SwitchClock;
  /** Seed of `random()`: 0 to 2^32 - 1. Default 1. */
  readonly seed?: number;
  /**
   * Values of fields of invalid headers, and of everything never written. `zero` (the default): as in simple_switch, 0
   * or an earlier value of the same packet. `poison`: random values, in two runs that are compared;
   * `V1Switch.undefinedReads` lists the places where the program depends on them.
   */
  readonly undefined?: 'zero' | 'poison';
  /** Seed of the undefined values in poison mode: 0 to 2^32 - 1. Default 1. */
  readonly poisonSeed?: number;
  /** Called once per place that poison mode finds. */
  readonly onUndefinedRead?: (read: UndefinedRead) => void;
  readonly trafficManager?: TrafficManager;
  readonly onTransmit?: TransmitConsumer;
  readonly onDigest?: (digest: Digest) => void;
  /** Called with each text of `log_msg`. */
  readonly onLog?: (message: string) => void;
  /** The port number that means drop. Default 511. */
  readonly dropPort?: number;
  /** Number of queues per port. Packets with `priority` at or above it are dropped. Default 1, as in simple_switch. */
  readonly priorityQueues?: number;
  /**
   * Most times that a packet and its copies may be resubmitted, recirculated or cloned in egress before they are
   * dropped. This ends the endless loop of a program. Default 1000.
   */
  readonly maxPasses?: number;
  /**
   * Most runs of pipelines for one received packet and all its copies, while packets go to egress at once. Default
   * 100,000.
   */
  readonly maxRuns?: number;
  /** Limits of the program and its packets, with defaults for those that are not given. */
  readonly limits?: Partial<Limits> | undefined;
}
