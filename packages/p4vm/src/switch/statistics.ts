import type { Faults } from '../machine/runtime.js';

/** Counts of packets in a switch. */
export interface SwitchStatistics {
  received: number;
  receivedBytes: number;
  transmitted: number;
  transmittedBytes: number;
  /** Parser runs that ended with an error (the packets went on to ingress). */
  parserErrors: number;
  /** Failed verifications of checksums. */
  checksumErrors: number;
  /** Clones made at the end of ingress. Copies made by their groups count in `multicastCopies`. */
  ingressClones: number;
  egressClones: number;
  multicastCopies: number;
  resubmitted: number;
  recirculated: number;
  digests: number;
  readonly dropped: DropCounters;
  /** Faults within the program. */
  readonly faults: Faults;
}

/** Packets that ended in the switch, by reason. */
export interface DropCounters {
  /** The drop port at the end of ingress. */
  ingress: number;
  /** The drop port at the end of egress. */
  egress: number;
  /** Multicast to an unknown group or one without ports. */
  emptyGroup: number;
  /** Clones to a session that is not configured. */
  noSession: number;
  /** A priority beyond the number of queues. */
  priority: number;
  /** Refused by the traffic manager. */
  queueFull: number;
  /** Too many passes: see `SwitchEnvironment.maxPasses`. */
  loop: number;
  /** Too many steps for one packet: see `Limits`. */
  steps: number;
  /** Longer than a packet may be. */
  size: number;
  /** No memory left for packets within the switch. */
  memory: number;
}

export type DropReason = keyof DropCounters;

/** All zero. */
export function createFaults(): Faults {
  return { stackIndex: 0, externIndex: 0, divisionByZero: 0, parserLoop: 0, assertion: 0, internal: 0 };
}

/** Zero counts, with the given faults, which others count. */
export function createStatistics(faults: Faults): SwitchStatistics {
  return {
    received: 0,
    receivedBytes: 0,
    transmitted: 0,
    transmittedBytes: 0,
    parserErrors: 0,
    checksumErrors: 0,
    ingressClones: 0,
    egressClones: 0,
    multicastCopies: 0,
    resubmitted: 0,
    recirculated: 0,
    digests: 0,
    dropped: {
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
    },
    faults,
  };
}
