/** The rule of prefixes once more, in the plainest way: an address and a prefix as text of bits. */

/** Bits of an address as text; an IPv4-mapped IPv6 address is the IPv4 address in it. */
function bitsOf(address: Uint8Array): string {
  const bits = Array.from(address, (byte) => byte.toString(2).padStart(8, '0')).join('');
  const mapped = '0'.repeat(80) + '1'.repeat(16);
  return bits.length === 128 && bits.startsWith(mapped) ? bits.slice(96) : bits;
}

/** A prefix: an address and how many of its bits count. */
export interface PlainPrefix {
  readonly address: Uint8Array;
  readonly length: number;
}

export function plainlyAdmits(prefixes: readonly PlainPrefix[], address: Uint8Array): boolean {
  const bits = bitsOf(address);
  return prefixes.some((prefix) => {
    const all = bitsOf(prefix.address);
    const cut = prefix.address.length * 8 - all.length;
    // A prefix that ends inside the part that is the same in all mapped addresses is one of IPv6.
    if (prefix.length < cut)
      return bits.length === 128 && rawBits(address).startsWith(rawBits(prefix.address).slice(0, prefix.length));
    return bits.length === all.length && bits.startsWith(all.slice(0, prefix.length - cut));
  });
}

const rawBits = (address: Uint8Array): string =>
  Array.from(address, (byte) => byte.toString(2).padStart(8, '0')).join('');

/** An address as a socket writes it. */
export function addressText(address: Uint8Array): string {
  if (address.length === 4) return address.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => ((address[2 * at]! << 8) | address[2 * at + 1]!).toString(16));
  return groups.join(':');
}
