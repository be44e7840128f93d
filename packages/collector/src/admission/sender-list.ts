import { scanIpv4, writeAddress } from '@int/codec/internals';
import { isInPrefix, type Prefix, prefixOf } from '@int/network';

/** Bytes in front of the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2). */
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] as const;
const MAPPED_BITS = 96;

/**
 * Reads prefixes: `10.9.0.0/16`, `2001:db8::/32`, or an address.
 * @throws RangeError for a text that is neither
 */
export function prefixesOf(from: readonly (string | Prefix)[]): Prefix[] {
  return from.map((one) => {
    const prefix = typeof one === 'string' ? prefixOf(one) : one;
    if (prefix !== null) return prefix;
    throw new RangeError(`from: "${String(one)}" is no address or prefix: write 10.9.0.0/16`);
  });
}

/**
 * Who may send: the addresses of a list of prefixes. An IPv4-mapped IPv6 address, which a socket for both families
 * shows, counts as the IPv4 address in it.
 *
 * A question costs a few nanoseconds a prefix. Those about IPv4 addresses allocate nothing.
 */
export class SenderList {
  /** First word and mask of each IPv4 prefix. */
  readonly #words: Uint32Array;
  readonly #masks: Uint32Array;
  readonly #ipv6: readonly Prefix[];

  constructor(from: readonly Prefix[]) {
    const plain = from.map(unmapped);
    const ipv4 = plain.filter(({ bytes }) => bytes.length === 4);
    this.#words = Uint32Array.from(ipv4, ({ bytes }) => wordAt(bytes, 0));
    this.#masks = Uint32Array.from(ipv4, ({ length }) => (length === 0 ? 0 : -1 << (32 - length)));
    this.#ipv6 = plain.filter(({ bytes }) => bytes.length === 16);
  }

  /** Whether an address is in the list. @param size bytes of the address at `offset`: 4 or 16 */
  has(bytes: Uint8Array, offset: number, size: number): boolean {
    if (size === 4) return this.#hasWord(wordAt(bytes, offset));
    if (isMapped(bytes, offset)) return this.#hasWord(wordAt(bytes, offset + MAPPED.length));
    for (const prefix of this.#ipv6) if (isInPrefix(prefix, bytes, offset, size)) return true;
    return false;
  }

  /** The same for an address as a socket gives it: text, with the zone of a link-local IPv6 address. */
  hasText(address: string): boolean {
    if (!address.includes(':')) {
      const word = scanIpv4(address, 0);
      return word >= 0 && this.#hasWord(word);
    }
    const zone = address.indexOf('%');
    const bytes = new Uint8Array(16);
    try {
      writeAddress(zone < 0 ? address : address.slice(0, zone), bytes);
    } catch {
      return false;
    }
    return this.has(bytes, 0, bytes.length);
  }

  #hasWord(word: number): boolean {
    const words = this.#words;
    const masks = this.#masks;
    for (let at = 0; at < words.length; at++) if (((word ^ words[at]!) & masks[at]!) === 0) return true;
    return false;
  }
}

const wordAt = (bytes: Uint8Array, offset: number): number =>
  ((bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!) >>> 0;

function isMapped(bytes: Uint8Array, offset: number): boolean {
  for (let at = 0; at < MAPPED.length; at++) if (bytes[offset + at] !== MAPPED[at]) return false;
  return true;
}

/** A prefix of IPv4-mapped addresses as a prefix of IPv4 addresses; others as they are. */
function unmapped(prefix: Prefix): Prefix {
  const { text, bytes, length } = prefix;
  if (bytes.length !== 16 || length < MAPPED_BITS || !isMapped(bytes, 0)) return prefix;
  return { text, bytes: bytes.slice(MAPPED.length), length: length - MAPPED_BITS };
}
