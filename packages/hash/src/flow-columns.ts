/**
 * Flow keys of many rows, one array per 32-bit word of the key: row i of every array belongs to the same key. A batch
 * of decoded telemetry has these columns.
 *
 * An address is held as big-endian words, most significant first: 10.0.1.1 is 0x0a000101, and 2001:db8::1 is
 * 0x20010db8, 0, 0, 1. An IPv4 address is in word 0; words 1..3 of that row are not read.
 */
export interface FlowColumns {
  /** Source address, bits 127..96 of an IPv6 address or the whole IPv4 address. */
  readonly source0: Uint32Array;
  /** Source address, bits 95..64. */
  readonly source1: Uint32Array;
  /** Source address, bits 63..32. */
  readonly source2: Uint32Array;
  /** Source address, bits 31..0. */
  readonly source3: Uint32Array;
  /** Destination address, bits 127..96 of an IPv6 address or the whole IPv4 address. */
  readonly destination0: Uint32Array;
  /** Destination address, bits 95..64. */
  readonly destination1: Uint32Array;
  /** Destination address, bits 63..32. */
  readonly destination2: Uint32Array;
  /** Destination address, bits 31..0. */
  readonly destination3: Uint32Array;
  /** Source port in bits 31..16, destination port in bits 15..0. */
  readonly ports: Uint32Array;
  /** IP protocol number. */
  readonly protocol: Uint8Array;
  /** Flag words; only the bits of `ipv6Mask` are read. */
  readonly flags: Uint32Array;
  /** Row i is an IPv6 key if `flags[i] & ipv6Mask` is not 0; the same for all rows. */
  readonly ipv6Mask: number;
}

/**
 * Checks a range of rows against the columns and the output.
 *
 * @throws RangeError if from or to is not a whole number, from is above to, or one of the arrays is shorter than `to`
 */
export function checkRows(columns: FlowColumns, from: number, to: number, out: Uint32Array): void {
  const rows = Math.min(
    columns.source0.length,
    columns.source1.length,
    columns.source2.length,
    columns.source3.length,
    columns.destination0.length,
    columns.destination1.length,
    columns.destination2.length,
    columns.destination3.length,
    columns.ports.length,
    columns.protocol.length,
    columns.flags.length,
  );
  if (!(Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from <= to && to <= rows)) {
    throw new RangeError(`rows ${from} to ${to}: not inside columns of ${rows} rows`);
  }
  if (to > out.length) {
    throw new RangeError(`rows ${from} to ${to}: out holds ${out.length}`);
  }
}
