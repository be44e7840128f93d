import { CRC_16_ARC, CRC_32, type Crc, type CrcParameters, createCrc } from '@int/hash';

/** The hash algorithms of v1model's `HashAlgorithm`, by the names of its members. */
export const HASH_ALGORITHMS = [
  'crc32',
  'crc32_custom',
  'crc16',
  'crc16_custom',
  'random',
  'identity',
  'csum16',
  'xor16',
] as const;

export type HashAlgorithm = (typeof HASH_ALGORITHMS)[number];

/** The Internet checksum (RFC 1071): ones' complement of the ones' complement sum of big-endian 16-bit words. */
export function csum16(bytes: Uint8Array, length: number): number {
  let sum = 0;
  const even = length & ~1;
  for (let i = 0; i < even; i += 2) {
    sum += (bytes[i]! << 8) | bytes[i + 1]!;
    // 2^16 words of 16 bits and the rest of the last fold stay far below 2^53.
    if ((i & 0x1fffe) === 0x1fffe) sum = fold(sum);
  }
  if (even !== length) sum += bytes[even]! << 8;
  return ~fold(sum) & 0xffff;
}

function fold(sum: number): number {
  let rest = sum;
  while (rest > 0xffff) rest = (rest & 0xffff) + Math.floor(rest / 0x10000);
  return rest;
}

/** Exclusive-or of big-endian 16-bit words; an odd last byte is the high one. */
export function xor16(bytes: Uint8Array, length: number): number {
  let result = 0;
  const even = length & ~1;
  for (let i = 0; i < even; i += 2) result ^= (bytes[i]! << 8) | bytes[i + 1]!;
  return even === length ? result : result ^ (bytes[even]! << 8);
}

/** The first 8 bytes (or all, if there are fewer) as a big-endian number. */
export function identity(bytes: Uint8Array, length: number): bigint {
  const used = Math.min(8, length);
  let high = 0;
  let low = 0;
  for (let i = 0; i < used; i++) {
    high = ((high << 8) | (low >>> 24)) >>> 0;
    low = ((low << 8) | bytes[i]!) >>> 0;
  }
  return (BigInt(high) << 32n) | BigInt(low);
}

/** Initial parameters of a custom CRC. */
export const CUSTOM_CRC_DEFAULTS: Readonly<Record<'crc16_custom' | 'crc32_custom', CrcParameters>> = {
  crc16_custom: CRC_16_ARC,
  crc32_custom: CRC_32,
};

const made = /* @__PURE__ */ new Map<HashAlgorithm, Crc>();

/** The CRC of an algorithm with its initial parameters. Made once. */
export function crcOf(algorithm: 'crc16' | 'crc32' | 'crc16_custom' | 'crc32_custom'): Crc {
  let crc = made.get(algorithm);
  if (crc === undefined) {
    crc = createCrc(algorithm.startsWith('crc16') ? CRC_16_ARC : CRC_32);
    made.set(algorithm, crc);
  }
  return crc;
}

/** Whether a name is one of {@link HASH_ALGORITHMS}. */
export function isHashAlgorithm(name: string): name is HashAlgorithm {
  return (HASH_ALGORITHMS as readonly string[]).includes(name);
}
