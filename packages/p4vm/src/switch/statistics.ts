import type { Faults } from '../machine/runtime.js';

/** Packets that ended in the switch, by reason. */
export class DropCounters {
  /** The drop port at the end of ingress. */
  ingress = 0;
  /** The drop port at the end of egress. */
  egress = 0;
  /** Multicast to an unknown group or one without ports. */
  emptyGroup = 0;
  /** Clones to a session that is not configured. */
  noSession = 0;
  /** A priority beyond the number of queues. */
  priority = 0;
  /** Refused by the traffic manager. */
  queueFull = 0;
  /** Too many passes: see `SwitchEnvironment.maxPasses`. */
  loop = 0;
  /** Too many steps for one packet: see `Limits`. */
  steps = 0;
  /** Longer than a packet may be. */
  size = 0;
  /** No memory left for packets within the switch. */
  memory = 0;
}

/** Counts of packets in a switch. */
export class SwitchStatistics {
  received = 0;
  receivedBytes = 0;
  transmitted = 0;
  transmittedBytes = 0;
  /** Parser runs that ended with an error (the packets went on to ingress). */
  parserErrors = 0;
  /** Failed verifications of checksums. */
  checksumErrors = 0;
  /** Clones made at the end of ingress. Copies made by their groups count in `multicastCopies`. */
  ingressClones = 0;
  egressClones = 0;
  multicastCopies = 0;
  resubmitted = 0;
  recirculated = 0;
  digests = 0;
  readonly dropped: DropCounters = new DropCounters();
  /** Faults within the program. */
  readonly faults: Faults;

  /** @param faults counts of others */
  constructor(faults: Faults) {
    this.faults = faults;
  }
}

export type DropReason = keyof DropCounters;

/** All zero. */
export function createFaults(): Faults {
  return { stackIndex: 0, externIndex: 0, divisionByZero: 0, parserLoop: 0, assertion: 0, internal: 0 };
}
