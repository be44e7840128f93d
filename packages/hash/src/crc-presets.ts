/**
 * The parameters of a CRC, in the model of Ross Williams ("A painless guide to CRC error detection algorithms", 1993)
 * that the RevEng catalogue and P4 targets use.
 */
export interface CrcParameters {
  /** Width of the register and of the result in bits, 1..32. */
  readonly width: number;
  /** Polynomial, most significant bit first, the bit for x^width left out: 0..2^width - 1. */
  readonly polynomial: number;
  /** Register before the first byte, written unreflected: 0..2^width - 1. */
  readonly init: number;
  /** Whether each byte enters with its least significant bit first. */
  readonly reflectIn: boolean;
  /** Whether the register is bit-reversed before the last exclusive-or. */
  readonly reflectOut: boolean;
  /** Exclusive-or that turns the register into the result: 0..2^width - 1. */
  readonly xorOut: number;
}

function reflected(width: number, polynomial: number, init: number, xorOut: number): CrcParameters {
  return { width, polynomial, init, reflectIn: true, reflectOut: true, xorOut };
}

function unreflected(width: number, polynomial: number, init: number, xorOut: number): CrcParameters {
  return { width, polynomial, init, reflectIn: false, reflectOut: false, xorOut };
}

/*
 * Each check value is the CRC of the nine ASCII characters "123456789"; they are those of the RevEng catalogue of
 * parametrised CRC algorithms, unless the comment says otherwise.
 */

/**
 * CRC-32 as Ethernet, zlib, PNG, v1model's `crc32` and the RoCEv2 iCRC compute it (CRC-32/ISO-HDLC).
 * Also the initial setting of v1model's `crc32_custom`. Check value 0xcbf43926.
 */
export const CRC_32: CrcParameters = /* @__PURE__ */ reflected(32, 0x04c11db7, 0xffffffff, 0xffffffff);

/** CRC-32C, Castagnoli (CRC-32/ISCSI, RFC 3720 appendix B.4). Check value 0xe3069283. */
export const CRC_32C: CrcParameters = /* @__PURE__ */ reflected(32, 0x1edc6f41, 0xffffffff, 0xffffffff);

/** CRC-32D (CRC-32/BASE91-D). Check value 0x87315576. */
export const CRC_32D: CrcParameters = /* @__PURE__ */ reflected(32, 0xa833982b, 0xffffffff, 0xffffffff);

/**
 * CRC-32K: Koopman's polynomial 0x741b8cd7 with the other parameters of CRC-32, as Go's `crc32.Koopman` has it. Check
 * value 0x2d3dd0ae. The catalogue lists the same polynomial without the last exclusive-or (CRC-32/MEF, 0xd2c22f51).
 */
export const CRC_32K: CrcParameters = /* @__PURE__ */ reflected(32, 0x741b8cd7, 0xffffffff, 0xffffffff);

/** CRC-32Q (CRC-32/AIXM): neither reflected nor inverted. Check value 0x3010bf7f. */
export const CRC_32Q: CrcParameters = /* @__PURE__ */ unreflected(32, 0x814141ab, 0, 0);

/** CRC-32/AUTOSAR (end-to-end profile 4). Check value 0x1697d06a. */
export const CRC_32_AUTOSAR: CrcParameters = /* @__PURE__ */ reflected(32, 0xf4acfb13, 0xffffffff, 0xffffffff);

/** CRC-32/BZIP2: the polynomial of CRC-32, not reflected. Check value 0xfc891918. */
export const CRC_32_BZIP2: CrcParameters = /* @__PURE__ */ unreflected(32, 0x04c11db7, 0xffffffff, 0xffffffff);

/**
 * CRC-16/ARC: v1model's `crc16`, and the initial setting of its `crc16_custom`. Check value 0xbb3d.
 */
export const CRC_16_ARC: CrcParameters = /* @__PURE__ */ reflected(16, 0x8005, 0, 0);

/**
 * CRC-16/IBM-3740, often called CRC-16/CCITT-FALSE: what the BMv2 software switch calls `crcCCITT`. Check value 0x29b1.
 */
export const CRC_16_CCITT_FALSE: CrcParameters = /* @__PURE__ */ unreflected(16, 0x1021, 0xffff, 0);

/** CRC-16/CCITT as ITU-T V.41 has it (CRC-16/KERMIT). Check value 0x2189. */
export const CRC_16_CCITT: CrcParameters = /* @__PURE__ */ reflected(16, 0x1021, 0, 0);

/** CRC-16/X-25 (CRC-16/IBM-SDLC, the HDLC frame check of RFC 1662). Check value 0x906e. */
export const CRC_16_X25: CrcParameters = /* @__PURE__ */ reflected(16, 0x1021, 0xffff, 0xffff);

/** CRC-8/SMBUS: the initial setting of BMv2's `crc8_custom`. Check value 0xf4. */
export const CRC_8: CrcParameters = /* @__PURE__ */ unreflected(8, 0x07, 0, 0);
