/** How telemetry travels in packets. */
export type TelemetryHeader =
  /** The header of the IntMon paper over UDP: each of the fields is a word. */
  | { readonly kind: 'intmon'; readonly fields: number }
  /** INT-MD 2.1 behind UDP or TCP; `newUdp`: behind a UDP header that the source inserts. */
  | { readonly kind: 'int-md'; readonly instructions: number; readonly newUdp?: boolean };

/** Bytes that telemetry adds to a packet: a header, and so many for each switch that it has passed. */
export interface TelemetryBytes {
  readonly headerBytes: number;
  readonly hopBytes: number;
}

/** "Bandwidth overhead" of the paper: 12 bytes of header, 4 of a field. */
const INTMON = { header: 12, field: 4, fields: 8 } as const;
/** INT 2.1, sections 5.6 and 5.7: shim and INT-MD header. A UDP header has 8 bytes. */
const INT_MD = { shim: 4, header: 12, udp: 8 } as const;
/** INT 2.1, section 5.8: timestamps (bits 4 and 5) and level 2 interfaces (bit 6) take two words, all else one. */
const TWO_WORDS = new Set([4, 5, 6]);
const INSTRUCTIONS = 16;

/** @throws RangeError for fields that are no whole number from 0 to 8, or instructions that are no 16 bits */
export function telemetryBytes(header: TelemetryHeader): TelemetryBytes {
  if (header.kind === 'intmon') {
    const { fields } = header;
    if (!(Number.isInteger(fields) && fields >= 0 && fields <= INTMON.fields)) {
      throw new RangeError(`${fields} fields: a whole number from 0 to ${INTMON.fields}`);
    }
    return { headerBytes: INTMON.header, hopBytes: INTMON.field * fields };
  }
  const { instructions, newUdp = false } = header;
  if (!(Number.isInteger(instructions) && instructions >= 0 && instructions < 2 ** INSTRUCTIONS)) {
    throw new RangeError(`instructions ${instructions}: 16 bits`);
  }
  let words = 0;
  for (let bit = 0; bit < INSTRUCTIONS; bit++) {
    // Bit 0 is the most significant.
    if (((instructions >>> (INSTRUCTIONS - 1 - bit)) & 1) === 1) words += TWO_WORDS.has(bit) ? 2 : 1;
  }
  return { headerBytes: INT_MD.shim + INT_MD.header + (newUdp ? INT_MD.udp : 0), hopBytes: 4 * words };
}
