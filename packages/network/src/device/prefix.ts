import { parseAddress } from '@int/codec';

/** Addresses that share their first bits. */
export interface Prefix {
  readonly text: string;
  /** 4 bytes, or 16; bits behind `length` are 0. */
  readonly bytes: Uint8Array;
  readonly length: number;
}

/** Reads an address, or an address and a length; `null` if the text is neither. Bits behind the length are left out. */
export function prefixOf(text: string): Prefix | null {
  const [address = '', suffix, ...more] = text.split('/');
  let words: readonly number[];
  try {
    ({ words } = parseAddress(address));
  } catch {
    return null;
  }
  const bytes = Uint8Array.from({ length: 4 * words.length }, (_, k) => words[k >>> 2]! >>> (24 - 8 * (k & 3)));
  const most = bytes.length * 8;
  if (more.length > 0 || (suffix !== undefined && !/^\d{1,3}$/.test(suffix))) return null;
  const length = suffix === undefined ? most : Number(suffix);
  if (length > most) return null;
  const masked = bytes.map((byte, index) => byte & maskOf(length - 8 * index));
  return { text, bytes: masked, length };
}

const maskOf = (bits: number): number => (bits >= 8 ? 0xff : bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff);

/** Whether an address, 4 or 16 bytes at `offset`, is one of a prefix. An IPv4 address is no IPv6 address. */
export function isInPrefix({ bytes, length }: Prefix, address: Uint8Array, offset: number, size: number): boolean {
  if (bytes.length !== size) return false;
  for (let index = 0; index * 8 < length; index++) {
    if (((address[offset + index]! ^ bytes[index]!) & maskOf(length - 8 * index)) !== 0) return false;
  }
  return true;
}
