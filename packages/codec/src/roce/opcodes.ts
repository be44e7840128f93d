/** What follows the base transport header, by opcode. */
import { ROCE_OPCODE } from '../headers/roce.js';

/** Parts of a RoCEv2 packet behind its BTH, as bits. On the wire they have this order. */
export const ROCE_PART = {
  /** RDMA extended transport header, 16 bytes. */
  RETH: 1,
  /** Atomic extended transport header, 28 bytes. */
  ATOMIC_ETH: 2,
  /** Acknowledge extended transport header, 4 bytes. */
  AETH: 4,
  /** Immediate data, 4 bytes. */
  IMMEDIATE: 8,
  /** The value in memory before an atomic operation, 8 bytes. */
  ORIGINAL: 16,
  /** Data, then pad bytes. */
  PAYLOAD: 32,
} as const;

const { RETH, ATOMIC_ETH, AETH, IMMEDIATE, ORIGINAL, PAYLOAD } = ROCE_PART;
const OPCODE = ROCE_OPCODE;

const PARTS: Uint8Array = /* @__PURE__ */ (() => {
  const parts = new Uint8Array(256);
  for (const service of [0x00, 0x20]) {
    parts[service + OPCODE.RC_WRITE_FIRST] = RETH | PAYLOAD;
    parts[service + OPCODE.RC_WRITE_MIDDLE] = PAYLOAD;
    parts[service + OPCODE.RC_WRITE_LAST] = PAYLOAD;
    parts[service + OPCODE.RC_WRITE_LAST_IMMEDIATE] = IMMEDIATE | PAYLOAD;
    parts[service + OPCODE.RC_WRITE_ONLY] = RETH | PAYLOAD;
    parts[service + OPCODE.RC_WRITE_ONLY_IMMEDIATE] = RETH | IMMEDIATE | PAYLOAD;
  }
  parts[OPCODE.RC_ACKNOWLEDGE] = AETH;
  parts[OPCODE.RC_ATOMIC_ACKNOWLEDGE] = AETH | ORIGINAL;
  parts[OPCODE.RC_COMPARE_SWAP] = ATOMIC_ETH;
  parts[OPCODE.RC_FETCH_ADD] = ATOMIC_ETH;
  return parts;
})();

/**
 * What follows the BTH of a packet.
 *
 * @param opcode see {@link ROCE_OPCODE}
 * @returns bits of {@link ROCE_PART}; 0 for an opcode that is not known here
 */
export function rocePartsOf(opcode: number): number {
  return PARTS[opcode] ?? 0;
}

/** Bytes of the headers between BTH and payload. */
export function rocePartsLength(parts: number): number {
  return (
    ((parts & RETH) !== 0 ? 16 : 0) +
    ((parts & ATOMIC_ETH) !== 0 ? 28 : 0) +
    ((parts & AETH) !== 0 ? 4 : 0) +
    ((parts & IMMEDIATE) !== 0 ? 4 : 0) +
    ((parts & ORIGINAL) !== 0 ? 8 : 0)
  );
}
