import type { LinkLayer } from '@int/codec';
import { LinkType } from '@int/pcap';

/** Older numbers of raw IP, as BSD systems wrote them into files (tcpdump.org/linktypes.html, note on LINKTYPE_RAW). */
const BSD_RAW = 12;
const OPENBSD_RAW = 14;

/** The capture link type of each link layer. A bare UDP payload has none of its own. */
const LINK_TYPES: Readonly<Record<LinkLayer, number | null>> = {
  ethernet: LinkType.ETHERNET,
  raw: LinkType.RAW,
  'linux-sll': LinkType.LINUX_SLL,
  'linux-sll2': LinkType.LINUX_SLL2,
  report: null,
};

const LINK_LAYERS: ReadonlyMap<number | null, LinkLayer> = /* @__PURE__ */ new Map([
  ...(Object.entries(LINK_TYPES) as [LinkLayer, number | null][]).map(([layer, type]) => [type, layer] as const),
  ...[LinkType.IPV4, LinkType.IPV6, BSD_RAW, OPENBSD_RAW].map((type) => [type, 'raw'] as const),
]);

/**
 * The codec's name of a capture link type.
 * @returns `null` for a link type that the codec does not read
 */
export function linkLayerOf(linkType: number): LinkLayer | null {
  return LINK_LAYERS.get(linkType) ?? null;
}

/**
 * The capture link type of a link layer of the codec.
 * @returns `null` for `report`
 */
export function linkTypeOf(linkLayer: LinkLayer): number | null {
  return LINK_TYPES[linkLayer];
}
