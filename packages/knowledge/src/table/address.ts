import { formatIpv4, formatIpv6 } from '@int/codec';
import { parseIpv4, parseIpv6 } from '@int/codec/internals';

/** Words of an address: an IPv4 address is kept as the IPv6 address that stands for it, `::ffff:a.b.c.d` (RFC 4291). */
export const ADDRESS_WORDS = 4;
const MAPPED = 0xffff;

/** Writes an address into four words of `target`. @throws AddressError of @int/codec for text that is none */
export function writeAddress(text: string, target: Uint32Array, at: number): void {
  if (text.includes(':')) {
    target.set(parseIpv6(text), at);
    return;
  }
  writeIpv4(parseIpv4(text), target, at);
}

export function writeIpv4(word: number, target: Uint32Array, at: number): void {
  target[at] = 0;
  target[at + 1] = 0;
  target[at + 2] = MAPPED;
  target[at + 3] = word;
}

export function addressText(words: Uint32Array, at: number): string {
  const [w0, w1, w2, w3] = [words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!];
  return (w0 | w1) === 0 && w2 === MAPPED ? formatIpv4(w3) : formatIpv6(w0, w1, w2, w3);
}
