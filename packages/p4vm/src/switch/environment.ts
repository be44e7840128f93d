import type { Limits } from '../budget/limits.js';
import type { Digest } from '../externs/digest.js';
import type { UndefinedRead } from '../poison/undefined-reads.js';
import type { InFlightPacket } from './in-flight.js';

/** Where a switch takes its time from: microseconds since it began, whole, never going back. */
export interface SwitchClock {
  nowUs(): number;
}

/** A clock that stands still until it is moved: the default, so that runs repeat exactly. */
export class VirtualClock implements SwitchClock {
  #nowUs = 0;

  nowUs(): number {
    return this.#nowUs;
  }

  /**
   * Sets the time.
   *
   * @throws RangeError if `timeUs` lies in the past or is no whole number of microseconds
   */
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
 * What lies between ingress and egress: output queues. Without one packets go to egress at once, in order.
 * A manager keeps each packet it accepts and gives it back with `V1Switch.dequeue`, whenever it likes.
 */
export interface TrafficManager {
  /**
   * A packet for the queue of `packet.port` and `packet.priority`. The manager may set `packet.enqueueDepth` (packets
   * waiting in that queue, 0 before). False refuses it: the queue is full.
   */
  enqueue(packet: InFlightPacket): boolean;
  /**
   * A packet that goes back to the parser (`packet.reentry` says why). The manager gives it back with `V1Switch.reenter`;
   * false refuses it. Without this method packets go back at once.
   */
  reenter?(packet: InFlightPacket): boolean;
  /** The control plane limits queues to so many packets: of all ports, of one, or one queue of it. */
  setQueueDepth?(packets: number, port?: number, priority?: number): void;
  /** The control plane limits queues to so many packets a second; 0: no limit. */
  setQueueRate?(rate: number, port?: number, priority?: number): void;
}

/** Where a packet goes that leaves the switch: `length` bytes of `bytes` from `offset`, valid during the call only. */
export type TransmitConsumer = (port: number, bytes: Uint8Array, offset: number, length: number) => void;

/** What surrounds a switch. Everything has a default. */
export interface SwitchEnvironment {
  readonly clock?: SwitchClock;
  /** Seed of `random()`: 0 to 2^32 - 1. Default 1. */
  readonly seed?: number;
  /**
   * What fields of invalid headers and all that was never written hold. `zero` (the default): as in simple_switch, 0 or what
   * was left there by the packet. `poison`: something random, in two runs that are compared; `V1Switch.undefinedReads` has
   * the places where the program depends on it.
   */
  readonly undefined?: 'zero' | 'poison';
  /** Seed of what is undefined in poison mode: 0 to 2^32 - 1. Default 1. */
  readonly poisonSeed?: number;
  /** Called when poison mode finds a place for the first time. */
  readonly onUndefinedRead?: (read: UndefinedRead) => void;
  readonly trafficManager?: TrafficManager;
  readonly onTransmit?: TransmitConsumer;
  readonly onDigest?: (digest: Digest) => void;
  /** Texts of `log_msg`. */
  readonly onLog?: (message: string) => void;
  /** The port that stands for dropping. Default 511. */
  readonly dropPort?: number;
  /** Queues of a port: packets with `priority` at or above it are dropped. Default 1, as simple_switch has it. */
  readonly priorityQueues?: number;
  /**
   * How often a packet (and what is made of it) may be resubmitted, recirculated or cloned in egress before it is dropped:
   * what a program in an endless loop runs into. Default 1000.
   */
  readonly maxPasses?: number;
  /** Pipelines run for one received packet, all its copies counted, while packets go to egress at once. Default 100,000. */
  readonly maxRuns?: number;
  /** What the program may use, and what its packets may; the defaults where nothing is said. */
  readonly limits?: Partial<Limits> | undefined;
}
