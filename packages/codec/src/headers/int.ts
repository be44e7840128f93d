/** INT metadata headers of all versions. The stack behind them: `hopBlock`. */
import { type FixedHeaderCodec, fixedHeader } from './codec.js';

/** Metadata header of INT v0.5 (section 5.3.4), 8 bytes, Ver 0. */
export interface IntV05 {
  /** 2 bits: replication requested. */
  replication: number;
  /** C: this packet is a copy. */
  copy: boolean;
  /** E: a hop found Total Hop Count at Max Hop Count. */
  hopExceeded: boolean;
  /** 3 bits. */
  reserved: number;
  /** 5 bits: set bits of the instruction bitmap, words a hop pushes. */
  instructionCount: number;
  /** 8 bits. */
  maxHopCount: number;
  /** 8 bits: hops that have pushed. */
  totalHopCount: number;
  /** 16 bits, bit 0 = 0x8000. */
  instructionBitmap: number;
  /** 16 bits. */
  reserved2: number;
}

/** {@link IntV05}. Errors: `BAD_INT_VERSION`. */
export const intV05: FixedHeaderCodec<IntV05> = /* @__PURE__ */ fixedHeader<IntV05>('int', [
  [null, 4, 0, 'BAD_INT_VERSION'],
  ['replication', 2],
  ['copy', 1, 'flag'],
  ['hopExceeded', 1, 'flag'],
  ['reserved', 3],
  ['instructionCount', 5],
  ['maxHopCount', 8],
  ['totalHopCount', 8],
  ['instructionBitmap', 16],
  ['reserved2', 16],
]);

/** Metadata header of INT v1.0 (section 4.7), 8 bytes, Ver 1. */
export interface IntV10 {
  /** 2 bits: 0 none, 1 port level, 2 next-hop level, 3 both. */
  replication: number;
  /** C: this packet is a copy. */
  copy: boolean;
  /** E: maximum hop count exceeded. */
  hopExceeded: boolean;
  /** M: MTU exceeded at some hop. */
  mtuExceeded: boolean;
  /** 10 bits. */
  reserved: number;
  /** 5 bits: words a hop pushes. */
  hopMl: number;
  /** 8 bits. */
  remainingHopCount: number;
  /** 16 bits, bit 0 = 0x8000. */
  instructionBitmap: number;
  /** 16 bits. */
  reserved2: number;
}

/** {@link IntV10}. Errors: `BAD_INT_VERSION`. */
export const intV10: FixedHeaderCodec<IntV10> = /* @__PURE__ */ fixedHeader<IntV10>('int', [
  [null, 4, 1, 'BAD_INT_VERSION'],
  ['replication', 2],
  ['copy', 1, 'flag'],
  ['hopExceeded', 1, 'flag'],
  ['mtuExceeded', 1, 'flag'],
  ['reserved', 10],
  ['hopMl', 5],
  ['remainingHopCount', 8],
  ['instructionBitmap', 16],
  ['reserved2', 16],
]);

/** INT-MD header of v2.0 and v2.1 (section 5.8), 12 bytes, Ver 2. */
export interface IntMd {
  /** D: the sink discards the packet after extraction. */
  discard: boolean;
  /** E: Remaining Hop Count was exhausted. */
  hopExceeded: boolean;
  /** M: MTU exceeded at some hop. */
  mtuExceeded: boolean;
  /** 12 bits. */
  reserved: number;
  /** 5 bits: words a hop pushes, source-only metadata excluded. */
  hopMl: number;
  /** 8 bits. */
  remainingHopCount: number;
  /** 16 bits, bit 0 = 0x8000. */
  instructionBitmap: number;
  /** 16 bits; 0 = default domain. */
  domainId: number;
  /** 16 bits, bit 0 = 0x8000. */
  domainInstructions: number;
  /** 16 bits, defined by the domain. */
  domainFlags: number;
}

/** {@link IntMd}. Errors: `BAD_INT_VERSION`. */
export const intMd: FixedHeaderCodec<IntMd> = /* @__PURE__ */ fixedHeader<IntMd>('int', [
  [null, 4, 2, 'BAD_INT_VERSION'],
  ['discard', 1, 'flag'],
  ['hopExceeded', 1, 'flag'],
  ['mtuExceeded', 1, 'flag'],
  ['reserved', 12],
  ['hopMl', 5],
  ['remainingHopCount', 8],
  ['instructionBitmap', 16],
  ['domainId', 16],
  ['domainInstructions', 16],
  ['domainFlags', 16],
]);

/** INT-MX header of v2.1 (section 5.9), 12 bytes, Ver 2. Source-inserted metadata may follow. */
export interface IntMx {
  /** D: the sink discards the packet after reporting. */
  discard: boolean;
  /** 27 bits. */
  reserved: number;
  /** 16 bits, bit 0 = 0x8000; bits 9 to 15 reserved. */
  instructionBitmap: number;
  /** 16 bits; 0 = default domain. */
  domainId: number;
  /** 16 bits, bit 0 = 0x8000. */
  domainInstructions: number;
  /** 16 bits, defined by the domain. */
  domainFlags: number;
}

/** {@link IntMx}. Errors: `BAD_INT_VERSION`. */
export const intMx: FixedHeaderCodec<IntMx> = /* @__PURE__ */ fixedHeader<IntMx>('int', [
  [null, 4, 2, 'BAD_INT_VERSION'],
  ['discard', 1, 'flag'],
  ['reserved', 27],
  ['instructionBitmap', 16],
  ['domainId', 16],
  ['domainInstructions', 16],
  ['domainFlags', 16],
]);

/** Metadata header of the 2016 draft, 8 bytes. Its stack: one bottom-of-stack bit and 31 bits for each value. */
export interface Int2016 {
  /** 2 bits. */
  version: number;
  /** 2 bits: replication requested. */
  replication: number;
  /** C: this packet is a copy. */
  copy: boolean;
  /** E: a hop found Total Hop Count at Max Hop Count. */
  hopExceeded: boolean;
  /** 5 bits. */
  reserved: number;
  /** 5 bits: set bits of the instruction bitmap, words a hop pushes. */
  instructionCount: number;
  /** 8 bits. */
  maxHopCount: number;
  /** 8 bits: hops that have pushed. */
  totalHopCount: number;
  /** 16 bits, bit 0 = 0x8000. */
  instructionBitmap: number;
  /** 16 bits. */
  reserved2: number;
}

/** {@link Int2016}. */
export const int2016: FixedHeaderCodec<Int2016> = /* @__PURE__ */ fixedHeader<Int2016>('int', [
  ['version', 2],
  ['replication', 2],
  ['copy', 1, 'flag'],
  ['hopExceeded', 1, 'flag'],
  ['reserved', 5],
  ['instructionCount', 5],
  ['maxHopCount', 8],
  ['totalHopCount', 8],
  ['instructionBitmap', 16],
  ['reserved2', 16],
]);

/** IntMon header (ONOS): the 2016 header with an O flag, a length and the original port; 12 bytes, UDP port 54321. */
export interface IntMon extends Int2016 {
  /** O: a copy was sent to the controller. First of the 2016 header's reserved bits. */
  sentToController: boolean;
  /** 4 bits. */
  reserved: number;
  /** 16 bits, bytes: this header and the stack. */
  intLength: number;
  /** 16 bits: original UDP destination port. */
  destinationPort: number;
}

/** {@link IntMon}. */
export const intMon: FixedHeaderCodec<IntMon> = /* @__PURE__ */ fixedHeader<IntMon>('int', [
  ['version', 2],
  ['replication', 2],
  ['copy', 1, 'flag'],
  ['hopExceeded', 1, 'flag'],
  ['sentToController', 1, 'flag'],
  ['reserved', 4],
  ['instructionCount', 5],
  ['maxHopCount', 8],
  ['totalHopCount', 8],
  ['instructionBitmap', 16],
  ['reserved2', 16],
  ['intLength', 16],
  ['destinationPort', 16],
]);
