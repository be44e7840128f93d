/** The layout of reports: constants and bit arithmetic for objects and bytes. */

/** UDP destination port that marks INT 2.x. */
export const INT_PORT = 5000;
/** DSCP that marks INT 1.0. */
export const INT_DSCP = 0x17;
/** Remaining Hop Count that the INT source starts from, its own push included. */
export const INITIAL_HOP_COUNT = 8;
/** Drop reason 'traffic manager' (p4lang/switch, drop_reason_codes.h). */
export const DROP_REASON = 71;
/** Time to live of packets sent by hosts. */
export const INITIAL_TTL = 64;

/** Items known for a lost packet: ports, queue, ingress timestamp, level-2 interfaces, utilisation and buffer. */
const KNOWN_AT_DROP = 0x5b80;

/** Metadata bits of a report v2.0 (bit 0 is cleared, as the node id is in the header; bit 15 means a drop). */
export function reportBits20(instructions: number, dropped: boolean): number {
  return dropped ? (instructions & KNOWN_AT_DROP) | 1 : instructions & 0x7fff;
}

/** The six metadata bits of a report v1.0: ports, latency, queue, egress timestamp, drop, utilisation. */
export function reportBits10(instructions: number, dropped: boolean): number {
  const known = dropped ? instructions & KNOWN_AT_DROP : instructions;
  return (
    ((known & 0x4000) >>> 9) |
    ((known & 0x2000) >>> 9) |
    ((known & 0x1000) >>> 9) |
    ((known & 0x0400) >>> 8) |
    (dropped ? 2 : 0) |
    ((known & 0x0100) >>> 8)
  );
}

/** Words of one hop's block: timestamps have two in INT 2.x, level-2 interfaces in every version. */
export function wordsOf(instructions: number, wideTimestamps: boolean): number {
  let words = 0;
  for (let rest = instructions; rest !== 0; rest &= rest - 1) words++;
  if ((instructions & 0x0200) !== 0) words++;
  if (wideTimestamps) words += ((instructions & 0x0800) >>> 11) + ((instructions & 0x0400) >>> 10);
  return words;
}

/**
 * The low 32 bits of a timestamp for INT 1.0. All ones would mean 'not available', so that value is one nanosecond
 * less.
 */
export function timestamp32(low: number): number {
  return low === 0xffff_ffff ? 0xffff_fffe : low;
}
