/**
 * The state of a software RNIC, in 32-bit words. With it, an accelerator in WebAssembly can execute plain good frames.
 * The words may be in the accelerator's memory. JavaScript and the accelerator take turns; nothing is shared between
 * threads.
 *
 * | Words | |
 * |---|---|
 * | 0..15 | {@link STATE_WORD} |
 * | 16.. | {@link MOST_QUEUE_PAIRS} queue pairs of 8 words: {@link QUEUE_PAIR_WORD} |
 * | then | {@link MOST_REGIONS} regions of 8 words: {@link REGION_WORD} |
 *
 * A plain good frame meets all conditions below. An accelerator that accepts one must leave the same state as
 * `SoftRnic`: bytes and marks of the target, and EXPECTED increased by one. For a frame that it does not accept, it
 * must change nothing.
 *
 * - EtherType 0x0800 without tags, IPv4 without options (first byte 0x45), no fragment (bytes 6 and 7 of the IPv4 header
 *   & 0x3fff = 0), protocol 17, IPv4 total length at most the bytes of the frame behind its Ethernet header (bytes behind
 *   it are padding of Ethernet), UDP destination port PORT, UDP length = total length - 20
 * - the iCRC is right (if CHECKS_ICRC is 1)
 * - BTH: opcode 0x2a, version 0, (partition key & 0x7fff) = (PARTITION_KEY & 0x7fff), destination queue pair = NUMBER of
 *   a queue pair with SERVICE 0, IS_SYNCHRONISED 1 and STALE_RUN 0, packet sequence number = EXPECTED
 * - RETH: remote key = REMOTE_KEY of a region with CAN_WRITE 1; DMA length > 0 and equal to the bytes between RETH and
 *   iCRC without the pad bytes; virtual address - base (64 bits, modulo 2^64) + DMA length <= size
 *
 * The checksums of the IPv4 header and of UDP are not checked: the iCRC covers all relevant fields.
 */
export const STATE_WORD = {
  QUEUE_PAIRS: 0,
  REGIONS: 1,
  PARTITION_KEY: 2,
  /** UDP destination port. */
  PORT: 3,
  /** 1 if iCRCs are checked, else 0. */
  CHECKS_ICRC: 4,
} as const;

export const QUEUE_PAIR_WORD = {
  NUMBER: 0,
  /** 0: UC, 1: RC. */
  SERVICE: 1,
  /** The next packet sequence number, 24 bits. */
  EXPECTED: 2,
  /** 0 until the first packet has set EXPECTED. */
  IS_SYNCHRONISED: 3,
  /** Number of successive stale packets, from before EXPECTED; see `SoftRnic`. */
  STALE_RUN: 4,
  /** Sequence number of the last stale packet. */
  STALE_LAST: 5,
  /** RC: messages completed, 24 bits. */
  MESSAGES: 6,
  /** RC: 1 from the NAK of a gap until the missing packet arrives. */
  HAS_NAK: 7,
} as const;

export const REGION_WORD = {
  REMOTE_KEY: 0,
  CAN_WRITE: 1,
  CAN_ATOMIC: 2,
  BASE_LOW: 3,
  BASE_HIGH: 4,
  SIZE_LOW: 5,
  SIZE_HIGH: 6,
} as const;

export const MOST_QUEUE_PAIRS = 1024;
export const MOST_REGIONS = 64;
/** Words of a queue pair, and of a region. */
export const ENTRY_WORDS = 8;
export const QUEUE_PAIRS_AT = 16;
export const REGIONS_AT = QUEUE_PAIRS_AT + MOST_QUEUE_PAIRS * ENTRY_WORDS;
/** Size of the state in 32-bit words. */
export const RNIC_STATE_WORDS = REGIONS_AT + MOST_REGIONS * ENTRY_WORDS;

/** An accelerator that executes plain good frames. */
export interface RnicAccelerator {
  /**
   * Executes frames from row `from` on, up to the first that is not a plain good one.
   * @returns the first row that it did not accept; `to` if it accepted all
   */
  run(bytes: Uint8Array, offsets: Uint32Array, lengths: Uint32Array, from: number, to: number): number;
}
