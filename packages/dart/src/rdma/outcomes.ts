/** The outcome of a packet at a software RNIC. Each packet has exactly one outcome, and each outcome a counter. */
export const OUTCOME = {
  /** An RDMA WRITE was executed. */
  write: 0,
  compareSwap: 1,
  fetchAdd: 2,
  /** A multi-slot write was executed. */
  multiWrite: 3,
  /** The bytes end before the end of the packet. */
  truncated: 4,
  /** Not an IP packet to the UDP port, or a fragment. */
  notRoce: 5,
  /** Lengths, version or pad count contradict each other. */
  header: 6,
  icrc: 7,
  /** The queue pair does not exist. */
  queuePair: 8,
  partition: 9,
  /** An unsupported opcode, including WRITE first, middle and last. */
  opcode: 10,
  /** An RC opcode on a UC queue pair, or the reverse. */
  service: 11,
  /** UC: a packet from before the expected one, or too far ahead. */
  stale: 12,
  /** RC: packets before this one are missing. */
  gap: 13,
  /** RC: a repeated packet. */
  duplicate: 14,
  remoteKey: 15,
  /** The region does not allow this. */
  access: 16,
  /** The DMA length is 0, or differs from the length of the payload. */
  dmaLength: 17,
  /** Not all bytes are inside the region. */
  bounds: 18,
  /** An atomic on an address that is not a multiple of 8. */
  alignment: 19,
} as const;
export type Outcome = (typeof OUTCOME)[OutcomeName];

export type OutcomeName = keyof typeof OUTCOME;

/** Names of the outcomes, by number. */
export const OUTCOME_NAMES = /* @__PURE__ */ Object.keys(OUTCOME) as readonly OutcomeName[];

/** Outcomes below this number are of executed packets; the others are rejects. */
export const FIRST_REJECT: number = OUTCOME.truncated;

/** Packets by outcome, and the other counters of a software RNIC. */
export type RnicCounters = Record<OutcomeName, number> & {
  /** Packets executed, of all kinds. */
  accepted: number;
  /** Packets rejected, for all reasons. */
  rejected: number;
  /** UC: lost packets, by gaps in the sequence numbers; and these gaps. */
  lost: number;
  gaps: number;
  /** UC: number of restarted sequences that were accepted. */
  restarts: number;
  /** RC: acknowledgements sent, and NAKs. */
  acknowledgements: number;
  negativeAcknowledgements: number;
};
