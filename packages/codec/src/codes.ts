import type { Status } from './model.js';

/**
 * Why a frame or report is not `ok`. The list is closed; objects have the names, columns the numbers. A number is the
 * position in the list: append, never reorder.
 */
const ENTRIES = [
  ['OK', 'ok', ''],
  ['NOT_INT', 'not-int', 'no telemetry report and no INT'],
  ['TRUNCATED', 'truncated', 'the bytes end before the field does'],
  ['BAD_RANGE', 'malformed', 'offset and length do not lie inside the buffer'],
  ['BAD_IP_VERSION', 'malformed', 'the IP version nibble is neither 4 nor 6, or not the one announced'],
  ['BAD_IP_LENGTH', 'malformed', 'the IP header length or total length is impossible'],
  ['BAD_UDP_LENGTH', 'malformed', 'the UDP length is shorter than its header'],
  ['BAD_TCP_LENGTH', 'malformed', 'the TCP data offset is impossible'],
  ['BAD_TUNNEL', 'malformed', 'the tunnel header is inconsistent'],
  ['BAD_SHIM_TYPE', 'malformed', 'the INT shim type is not defined'],
  ['BAD_SHIM_LENGTH', 'malformed', 'the INT shim length is impossible'],
  ['SHIM_BEYOND_PACKET', 'malformed', 'the INT shim length runs past the IP packet'],
  ['BAD_NPT', 'malformed', 'this next protocol type is not defined for this marking'],
  ['BAD_NEXT_PROTOCOL', 'malformed', 'the next protocol after INT is not a registered EtherType'],
  ['BAD_INT_VERSION', 'malformed', 'the INT header version does not fit its shim'],
  ['BAD_HOP_ML', 'malformed', 'Hop ML is less than the instruction bitmap needs'],
  ['BAD_STACK', 'malformed', 'the stack is not a whole number of hops'],
  ['BAD_HOP_COUNT', 'malformed', 'the hop count does not fit the stack'],
  ['BAD_INSTRUCTION_COUNT', 'malformed', 'the instruction count does not fit the instruction bitmap'],
  ['BAD_REPORT_VERSION', 'malformed', 'no telemetry report version matches'],
  ['BAD_REPORT_LENGTH', 'malformed', 'the report length does not fit its contents'],
  ['BAD_MD_LENGTH', 'malformed', 'MD Length does not fit the report or its metadata bits'],
  ['BAD_NPROTO', 'malformed', 'the report next-protocol value is not defined'],
  ['BAD_TLV_LENGTH', 'malformed', 'a TLV runs past its report'],
  ['TRAILING_BYTES', 'malformed', 'bytes are left behind the last report'],
  ['BAD_INNER_PACKET', 'malformed', 'the inner packet does not parse'],
  ['BAD_PROBE', 'malformed', 'the probe is inconsistent'],
  ['BAD_BOS', 'malformed', 'the bottom-of-stack mark is not where the stack ends'],
  ['BAD_CHECKSUM', 'malformed', 'a checksum does not match'],
  ['UNSUPPORTED_LINK_TYPE', 'unsupported', 'this link type is not supported'],
  ['UNSUPPORTED_INT_VERSION', 'unsupported', 'this INT version is not supported'],
  ['UNSUPPORTED_SHIM_TYPE', 'unsupported', 'the format of destination-type INT headers is not defined'],
  ['UNSUPPORTED_REPORT_VERSION', 'unsupported', 'this telemetry report version is not supported'],
  ['UNSUPPORTED_REPORT_TYPE', 'unsupported', 'this report type is reserved or not defined'],
  ['UNSUPPORTED_INNER_TYPE', 'unsupported', 'this inner type is reserved'],
  ['UNSUPPORTED_NESTING', 'unsupported', 'more stacked headers than are followed'],
  ['BATCH_TOO_SMALL', 'truncated', 'one datagram has more reports than the batch has rows'],
] as const satisfies readonly (readonly [string, Status, string])[];

/** Name of a code. */
export type CodeName = (typeof ENTRIES)[number][0];

/** Codes by name: the numbers in the `code` and `frameCode` columns. */
export const CODES: { readonly [K in CodeName]: number } = /* @__PURE__ */ Object.fromEntries(
  ENTRIES.map((entry, index) => [entry[0], index]),
) as { [K in CodeName]: number };

/** Names by code. */
export const CODE_NAMES: readonly CodeName[] = /* @__PURE__ */ ENTRIES.map((entry) => entry[0]);

/** Statuses by code. */
export const CODE_STATUS: readonly Status[] = /* @__PURE__ */ ENTRIES.map((entry) => entry[1]);

/** A sentence for each code. */
export const CODE_MESSAGES: readonly string[] = /* @__PURE__ */ ENTRIES.map((entry) => entry[2]);
