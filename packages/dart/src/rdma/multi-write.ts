/** Multi-slot write packets, to the byte as in MULTI-WRITE.md: the header that follows the BTH. */

/** BTH opcode, from the range that InfiniBand reserves for manufacturers. */
export const MULTI_WRITE_OPCODE = 0xca;
export const MULTI_WRITE_VERSION = 1;
/** Most addresses in a packet. */
export const MOST_ADDRESSES = 8;
/** Bytes of the header before the addresses. */
export const MULTI_WRITE_FIXED_BYTES = 8;

/** Bytes of the header with its addresses. */
export function multiWriteHeaderLength(addresses: number): number {
  return MULTI_WRITE_FIXED_BYTES + 8 * addresses;
}
