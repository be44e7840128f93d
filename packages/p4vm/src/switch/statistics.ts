import type { Faults } from '../machine/runtime.js';

/** What a switch has done, in packets. */
export interface SwitchStatistics {
  received: number;
  receivedBytes: number;
  transmitted: number;
  transmittedBytes: number;
  /** Parser runs that ended with an error (the packets went on to ingress). */
  parserErrors: number;
  /** Checksums that did not verify. */
  checksumErrors: number;
  /** Clones of ingress and egress that were sent on; copies made by their groups are in `multicastCopies`. */
  ingressClones: number;
  egressClones: number;
  multicastCopies: number;
  resubmitted: number;
  recirculated: number;
  digests: number;
  readonly dropped: DropCounters;
  /** What went wrong within the program. */
  readonly faults: Faults;
}

/** Packets that ended in the switch, by reason. */
export interface DropCounters {
  /** The drop port at the end of ingress. */
  ingress: number;
  /** The drop port at the end of egress. */
  egress: number;
  /** Multicast to a group that does not exist or has no ports. */
  emptyGroup: number;
  /** Clones to a session that is not configured. */
  noSession: number;
  /** A priority beyond the queues there are. */
  priority: number;
  /** Refused by the traffic manager. */
  queueFull: number;
  /** Passed through too often. */
  loop: number;
  /** Took more steps than one packet may: see `Limits`. */
  steps: number;
  /** Longer than a packet may be. */
  size: number;
  /** There was no memory left for packets within the switch. */
  memory: number;
}

export type DropReason = keyof DropCounters;

/** All zero. */
export function createFaults(): Faults {
  return { stackIndex: 0, externIndex: 0, divisionByZero: 0, parserLoop: 0, assertion: 0, internal: 0 };
}

/** All zero but the faults, which are counted elsewhere. */
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
