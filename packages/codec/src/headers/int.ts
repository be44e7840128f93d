/** INT metadata headers of all versions. The stack behind them: `hopBlock`. */
import { fixedHeader, type HeaderOf } from './codec.js';

/**
 * Metadata header of INT v0.5 (section 5.3.4), 8 bytes, Ver 0. 3 bits: `reserved`; 8 bits: `maxHopCount`; 16 bits:
 * `reserved2`.
 * @interface
 */
export type IntV05 = HeaderOf<typeof intV05>;

/** {@link IntV05}. Errors: `BAD_INT_VERSION`. */
export const intV05 = /* @__PURE__ */ fixedHeader('int', {
  version: { bits: 4, is: 0, code: 'BAD_INT_VERSION' },
  /** 2 bits: replication requested. */
  replication: 2,
  /** C: this packet is a copy. */
  copy: 'flag',
  /** E: a hop found Total Hop Count at Max Hop Count. */
  hopExceeded: 'flag',
  reserved: 3,
  /** 5 bits: set bits of the instruction bitmap, words that a hop pushes. */
  instructionCount: 5,
  maxHopCount: 8,
  /** 8 bits: hops that have pushed. */
  totalHopCount: 8,
  /** 16 bits, bit 0 = 0x8000. */
  instructionBitmap: 16,
  reserved2: 16,
});

/**
 * Metadata header of INT v1.0 (section 4.7), 8 bytes, Ver 1. 10 bits: `reserved`; 8 bits: `remainingHopCount`; 16 bits:
 * `reserved2`.
 * @interface
 */
export type IntV10 = HeaderOf<typeof intV10>;

/** {@link IntV10}. Errors: `BAD_INT_VERSION`. */
export const intV10 = /* @__PURE__ */ fixedHeader('int', {
  version: { bits: 4, is: 1, code: 'BAD_INT_VERSION' },
  /** 2 bits: 0 none, 1 port level, 2 next-hop level, 3 both. */
  replication: 2,
  /** C: this packet is a copy. */
  copy: 'flag',
  /** E: maximum hop count exceeded. */
  hopExceeded: 'flag',
  /** M: MTU exceeded at some hop. */
  mtuExceeded: 'flag',
  reserved: 10,
  /** 5 bits: words that a hop pushes. */
  hopMl: 5,
  remainingHopCount: 8,
  /** 16 bits, bit 0 = 0x8000. */
  instructionBitmap: 16,
  reserved2: 16,
});

/**
 * INT-MD header of v2.0 and v2.1 (section 5.8), 12 bytes, Ver 2. 12 bits: `reserved`; 8 bits: `remainingHopCount`.
 * @interface
 */
export type IntMd = HeaderOf<typeof intMd>;

/** {@link IntMd}. Errors: `BAD_INT_VERSION`. */
export const intMd = /* @__PURE__ */ fixedHeader('int', {
  version: { bits: 4, is: 2, code: 'BAD_INT_VERSION' },
  /** D: the sink discards the packet after extraction. */
  discard: 'flag',
  /** E: Remaining Hop Count was exhausted. */
  hopExceeded: 'flag',
  /** M: MTU exceeded at some hop. */
  mtuExceeded: 'flag',
  reserved: 12,
  /** 5 bits: words that a hop pushes, source-only metadata excluded. */
  hopMl: 5,
  remainingHopCount: 8,
  /** 16 bits, bit 0 = 0x8000. */
  instructionBitmap: 16,
  /** 16 bits; 0 = default domain. */
  domainId: 16,
  /** 16 bits, bit 0 = 0x8000. */
  domainInstructions: 16,
  /** 16 bits, defined by the domain. */
  domainFlags: 16,
});

/**
 * INT-MX header of v2.1 (section 5.9), 12 bytes, Ver 2. Source-inserted metadata may follow. 27 bits: `reserved`.
 * @interface
 */
export type IntMx = HeaderOf<typeof intMx>;

/** {@link IntMx}. Errors: `BAD_INT_VERSION`. */
export const intMx = /* @__PURE__ */ fixedHeader('int', {
  version: { bits: 4, is: 2, code: 'BAD_INT_VERSION' },
  /** D: the sink discards the packet after reporting. */
  discard: 'flag',
  reserved: 27,
  /** 16 bits, bit 0 = 0x8000; bits 9 to 15 reserved. */
  instructionBitmap: 16,
  /** 16 bits; 0 = default domain. */
  domainId: 16,
  /** 16 bits, bit 0 = 0x8000. */
  domainInstructions: 16,
  /** 16 bits, defined by the domain. */
  domainFlags: 16,
});

/**
 * Metadata header of the 2016 draft, 8 bytes. Its stack: one bottom-of-stack bit and 31 bits for each value. 2 bits:
 * `version`; 5 bits: `reserved`; 8 bits: `maxHopCount`; 16 bits: `reserved2`.
 * @interface
 */
export type Int2016 = HeaderOf<typeof int2016>;

/** {@link Int2016}. */
export const int2016 = /* @__PURE__ */ fixedHeader('int', {
  version: 2,
  /** 2 bits: replication requested. */
  replication: 2,
  /** C: this packet is a copy. */
  copy: 'flag',
  /** E: a hop found Total Hop Count at Max Hop Count. */
  hopExceeded: 'flag',
  reserved: 5,
  /** 5 bits: set bits of the instruction bitmap, words that a hop pushes. */
  instructionCount: 5,
  maxHopCount: 8,
  /** 8 bits: hops that have pushed. */
  totalHopCount: 8,
  /** 16 bits, bit 0 = 0x8000. */
  instructionBitmap: 16,
  reserved2: 16,
});

/**
 * IntMon header (ONOS): the 2016 header with an O flag, a length and the original port; 12 bytes, UDP port 54321. 2
 * bits: `version`; 4 bits: `reserved`; 8 bits: `maxHopCount`; 16 bits: `reserved2`.
 * @interface
 */
export type IntMon = HeaderOf<typeof intMon>;

/** {@link IntMon}. */
export const intMon = /* @__PURE__ */ fixedHeader('int', {
  version: 2,
  /** 2 bits: replication requested. */
  replication: 2,
  /** C: this packet is a copy. */
  copy: 'flag',
  /** E: a hop found Total Hop Count at Max Hop Count. */
  hopExceeded: 'flag',
  /** O: a copy was sent to the controller. First of the 2016 header's reserved bits. */
  sentToController: 'flag',
  reserved: 4,
  /** 5 bits: set bits of the instruction bitmap, words that a hop pushes. */
  instructionCount: 5,
  maxHopCount: 8,
  /** 8 bits: hops that have pushed. */
  totalHopCount: 8,
  /** 16 bits, bit 0 = 0x8000. */
  instructionBitmap: 16,
  reserved2: 16,
  /** 16 bits, bytes: this header and the stack. */
  intLength: 16,
  /** 16 bits: original UDP destination port. */
  destinationPort: 16,
});
