import { CRC_16_ARC, CRC_32, type Crc, type CrcParameters, createCrc } from '@int/hash';

/** The hash algorithms of v1model's `HashAlgorithm`, by the names of its members. */
const HASH_ALGORITHMS = [
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

const made = /* @__PURE__ */ new Map<CrcParameters, Crc>();

/** The CRC of an algorithm with its initial parameters, made once; undefined for other algorithms. */
export function crcOf(algorithm: HashAlgorithm): Crc | undefined {
  if (!algorithm.startsWith('crc')) return undefined;
  const parameters = algorithm.startsWith('crc16') ? CRC_16_ARC : CRC_32;
  const crc = made.get(parameters) ?? createCrc(parameters);
  made.set(parameters, crc);
  return crc;
}

/** Whether a name is that of a hash algorithm. */
export function isHashAlgorithm(name: string): name is HashAlgorithm {
  return (HASH_ALGORITHMS as readonly string[]).includes(name);
}
