const IPV4 = 0x0800;
const IPV6 = 0x86dd;
/** VLAN tags: IEEE 802.1Q, 802.1ad, and what older switches write. */
const TAGS = [0x8100, 0x88a8, 0x9100];
const MOST_TAGS = 4;
const NO_DSCP = -1;

/**
 * The differentiated services code point of the IP header behind an Ethernet header and its VLAN tags (RFC 2474, section 3), 0 to 63.
 * @param ethernet offset of that header, as the column `ethernet` has it
 * @returns -1 if there is none
 */
export function dscpAt(bytes: Uint8Array, ethernet: number): number {
  let at = ethernet + 12;
  for (let tags = 0; at + 4 <= bytes.length; tags++) {
    const type = (bytes[at]! << 8) | bytes[at + 1]!;
    at += 2;
    if (type === IPV4) return bytes[at + 1]! >>> 2;
    if (type === IPV6) return ((bytes[at]! & 0xf) << 2) | (bytes[at + 1]! >>> 6);
    if (tags === MOST_TAGS || !TAGS.includes(type)) break;
    at += 2;
  }
  return NO_DSCP;
}
