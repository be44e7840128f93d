import type { LinkLayer } from '@int/codec';
import { LinkType } from '@int/pcap';

/** Older numbers of raw IP, as BSD systems wrote them into files (tcpdump.org/linktypes.html, note on LINKTYPE_RAW). */
const BSD_RAW = 12;
const OPENBSD_RAW = 14;

/**
 * The codec's name of a capture link type.
 * @returns `null` for a link type that the codec does not read
 */
export function linkLayerOf(linkType: number): LinkLayer | null {
  switch (linkType) {
    case LinkType.ETHERNET:
      return 'ethernet';
    case LinkType.RAW:
    case LinkType.IPV4:
    case LinkType.IPV6:
    case BSD_RAW:
    case OPENBSD_RAW:
      return 'raw';
    case LinkType.LINUX_SLL:
      return 'linux-sll';
    case LinkType.LINUX_SLL2:
      return 'linux-sll2';
    default:
      return null;
  }
}

/**
 * The capture link type of a link layer of the codec.
 * @returns `null` for `report`: a bare UDP payload has no link type of its own
 */
export function linkTypeOf(linkLayer: LinkLayer): number | null {
  switch (linkLayer) {
    case 'ethernet':
      return LinkType.ETHERNET;
    case 'raw':
      return LinkType.RAW;
    case 'linux-sll':
      return LinkType.LINUX_SLL;
    case 'linux-sll2':
      return LinkType.LINUX_SLL2;
    case 'report':
      return null;
  }
}
