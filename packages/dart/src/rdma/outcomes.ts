/** The outcome of a packet at a software RNIC. Each packet has exactly one outcome, and each outcome a counter. */
export const OUTCOME = {
  /** An RDMA WRITE was executed. */
  WRITE: 0,
  COMPARE_SWAP: 1,
  FETCH_ADD: 2,
  /** A multi-slot write was executed. */
  MULTI_WRITE: 3,
  /** The bytes end before the end of the packet. */
  TRUNCATED: 4,
  /** Not an IP packet to the UDP port, or a fragment. */
  NOT_ROCE: 5,
  /** Lengths, version or pad count contradict each other. */
  HEADER: 6,
  ICRC: 7,
  /** The queue pair does not exist. */
  QUEUE_PAIR: 8,
  PARTITION: 9,
  /** An unsupported opcode, including WRITE first, middle and last. */
  OPCODE: 10,
  /** An RC opcode on a UC queue pair, or the reverse. */
  SERVICE: 11,
  /** UC: a packet from before the expected one, or too far ahead. */
  STALE: 12,
  /** RC: packets before this one are missing. */
  GAP: 13,
  /** RC: a repeated packet. */
  DUPLICATE: 14,
  REMOTE_KEY: 15,
  /** The region does not allow this. */
  ACCESS: 16,
  /** The DMA length is 0, or differs from the length of the payload. */
  DMA_LENGTH: 17,
  /** Not all bytes are inside the region. */
  BOUNDS: 18,
  /** An atomic on an address that is not a multiple of 8. */
  ALIGNMENT: 19,
} as const;
export type Outcome = (typeof OUTCOME)[keyof typeof OUTCOME];

/** Names of the outcomes, by number. */
export const OUTCOME_NAMES = [
  'write',
  'compareSwap',
  'fetchAdd',
  'multiWrite',
  'truncated',
  'notRoce',
  'header',
  'icrc',
  'queuePair',
  'partition',
  'opcode',
  'service',
  'stale',
  'gap',
  'duplicate',
  'remoteKey',
  'access',
  'dmaLength',
  'bounds',
  'alignment',
] as const;
export type OutcomeName = (typeof OUTCOME_NAMES)[number];

/** Outcomes below this number are of executed packets; the others are rejects. */
export const FIRST_REJECT: number = OUTCOME.TRUNCATED;

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
