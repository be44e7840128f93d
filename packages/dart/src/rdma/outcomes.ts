/** What becomes of a packet at a software RNIC: each has exactly one outcome, and each outcome a counter. */
export const OUTCOME = {
  /** An RDMA WRITE was done. */
  WRITE: 0,
  COMPARE_SWAP: 1,
  FETCH_ADD: 2,
  /** A multi-slot write was done. */
  MULTI_WRITE: 3,
  /** The bytes end before the packet does. */
  TRUNCATED: 4,
  /** No IP packet to the UDP port, or a fragment. */
  NOT_ROCE: 5,
  /** Lengths, version or pad count contradict each other. */
  HEADER: 6,
  ICRC: 7,
  /** There is no queue pair of this number. */
  QUEUE_PAIR: 8,
  PARTITION: 9,
  /** An opcode that is not executed here; also WRITE first, middle and last. */
  OPCODE: 10,
  /** An opcode of RC on a queue pair of UC, or the other way round. */
  SERVICE: 11,
  /** UC: a packet from before the last one, or too far ahead. */
  STALE: 12,
  /** RC: packets before this one are missing. */
  GAP: 13,
  /** RC: a packet that has come before. */
  DUPLICATE: 14,
  REMOTE_KEY: 15,
  /** The region does not allow this. */
  ACCESS: 16,
  /** The DMA length is 0, or not the bytes of the payload. */
  DMA_LENGTH: 17,
  /** Not all of the bytes are inside the region. */
  BOUNDS: 18,
  /** An atomic on an address that is no multiple of 8. */
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

/** Outcomes below this one are those of packets that were executed; the others are rejects. */
export const FIRST_REJECT: number = OUTCOME.TRUNCATED;

/** Packets by outcome, and what else a software RNIC counts. */
export type RnicCounters = Record<OutcomeName, number> & {
  /** Packets executed, of all kinds. */
  accepted: number;
  /** Packets rejected, for all reasons. */
  rejected: number;
  /** UC: packets that never came, by the gaps in the sequence numbers; and these gaps. */
  lost: number;
  gaps: number;
  /** UC: how often a sequence that began anew was taken up. */
  restarts: number;
  /** RC: answers sent that acknowledge, and that do not. */
  acknowledgements: number;
  negativeAcknowledgements: number;
};
