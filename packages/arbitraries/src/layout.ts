/**
 * The meaning of the words of one hop's block, by layout and instruction bitmap.
 *
 * This is independent of the codec, so that a record made here and a record decoded by the codec are two readings of
 * the specifications (INT v0.5, v1.0 and v2.1 section 5.8; reports v1.0 section 3.2 and v2.0 section 3.3.1).
 */
import type { Hop } from '@int/codec';
import { bytesOf } from './values.js';

/**
 * The layouts of a block: INT versions, dialects of INT v1.0 (`one-word`: 4 bytes for every instruction; `wide`: 8-byte
 * timestamps and 2 + 2 byte level-2 interfaces; `nibble3`: as `wide`, and bits 2 and 3 without 0 and 1 push hop latency
 * and egress timestamp), and the variable metadata of reports (`report-1.0`: its six bits are the upper six here).
 */
export const BLOCK_LAYOUTS = [
  '0.5',
  '1.0',
  '2',
  '2016',
  'one-word',
  'wide',
  'nibble3',
  'report-1.0',
  'report-2.0',
] as const;
export type BlockLayout = (typeof BLOCK_LAYOUTS)[number];

/** The words of an item and their decoder. */
interface Item {
  readonly words: 1 | 2;
  /** `undefined`: the item is no field of a hop, such as the drop word of a report. */
  readonly read?: (hop: Hop, first: number, second: number) => void;
  /** The drop word of a report. */
  readonly drop?: true;
}

type Numbers = {
  [K in keyof Hop]-?: NonNullable<Hop[K]> extends number ? K : never;
}[keyof Hop];
const NONE = 0xffffffff;

/** The bits of a word that `mask` selects; null if all are ones. */
const maskedBits = (value: number, mask: number): number | null => {
  const bits = (value & mask) >>> 0;
  return bits === mask ? null : bits;
};
/** 31 bits of value below the bottom-of-stack mark. */
const LOW_31 = 0x7fffffff;
const word = (name: Numbers, mask = NONE): Item => ({
  words: 1,
  read: (hop, first) => {
    hop[name] = maskedBits(first, mask);
  },
});
const split = (upper: Numbers, lower: Numbers, shift: number): Item => ({
  words: 1,
  read: (hop, value) => {
    hop[upper] = value === NONE ? null : value >>> shift;
    hop[lower] = value === NONE ? null : value % 2 ** shift;
  },
});
const pair = (upper: Numbers, lower: Numbers): Item => ({
  words: 2,
  read: (hop, first, second) => {
    const none = first === NONE && second === NONE;
    hop[upper] = none ? null : first;
    hop[lower] = none ? null : second;
  },
});
type Times = 'ingressTimestamp' | 'egressTimestamp';
const time = (name: Times, mask = NONE): Item => ({
  words: 1,
  read: (hop, first) => {
    const value = maskedBits(first, mask);
    hop[name] = value === null ? null : BigInt(value);
  },
});
const time64 = (name: Times): Item => ({
  words: 2,
  read: (hop, first, second) => {
    hop[name] = first === NONE && second === NONE ? null : (BigInt(first) << 32n) | BigInt(second);
  },
});
const SKIP: Item = { words: 1 };
const DROP: Item = { words: 1, drop: true };

const PORTS = /* @__PURE__ */ split('l1IngressInterface', 'l1EgressInterface', 16);
const QUEUE = /* @__PURE__ */ split('queueId', 'queueOccupancy', 24);
const LATENCY = /* @__PURE__ */ word('hopLatency');
const UTILIZATION = /* @__PURE__ */ word('egressUtilization');
const HALVES = /* @__PURE__ */ split('l2IngressInterface', 'l2EgressInterface', 16);

const ITEMS_2016: readonly Item[] = [
  word('nodeId', LOW_31),
  word('l1IngressInterface', LOW_31),
  word('hopLatency', LOW_31),
  word('queueOccupancy', LOW_31),
  time('ingressTimestamp', LOW_31),
  word('l1EgressInterface', LOW_31),
  word('queueCongestion', LOW_31),
  word('egressUtilization', LOW_31),
];
const ITEMS_REPORT10: readonly Item[] = [PORTS, LATENCY, QUEUE, time('egressTimestamp'), DROP, UTILIZATION];

/** The item that bit `bit` (0 = 0x8000) selects; `undefined` if none. */
function itemOf(layout: BlockLayout, bit: number): Item | undefined {
  if (layout === '2016') return ITEMS_2016[bit] ?? SKIP;
  if (layout === 'report-1.0') return ITEMS_REPORT10[bit];
  const two = layout === '2' || layout === 'report-2.0';
  switch (bit) {
    case 0:
      return layout === 'report-2.0' ? SKIP : word('nodeId');
    case 1:
      return PORTS;
    case 2:
      return LATENCY;
    case 3:
      return QUEUE;
    case 4:
    case 5: {
      const name = bit === 4 ? 'ingressTimestamp' : 'egressTimestamp';
      return two || layout === 'wide' || layout === 'nibble3' ? time64(name) : time(name);
    }
    case 6:
      if (layout === '0.5') return split('congestionQueueId', 'queueCongestion', 24);
      return two || layout === '1.0' ? pair('l2IngressInterface', 'l2EgressInterface') : HALVES;
    case 7:
      return UTILIZATION;
    case 8:
      return two ? split('bufferId', 'bufferOccupancy', 24) : word('reserved8');
    case 15:
      return layout === 'report-2.0' ? DROP : word(layout === '0.5' ? 'reserved15' : 'checksumComplement');
    default:
      return word(`reserved${bit}` as Numbers);
  }
}

interface Block {
  readonly items: readonly Item[];
  readonly words: number;
}

const cache = /* @__PURE__ */ new Map<string, Block>();

function blockOf(layout: BlockLayout, bitmap: number): Block {
  const key = `${layout} ${bitmap}`;
  let block = cache.get(key);
  if (block === undefined) {
    const selected: number[] = [];
    for (let bit = 0; bit < 16; bit++) if (bitmap & (0x8000 >>> bit)) selected.push(bit);
    if (layout === 'nibble3' && bitmap >>> 12 === 3) selected[selected.indexOf(3)] = 5;
    const items = selected.flatMap((bit) => itemOf(layout, bit) ?? []);
    block = { items, words: items.reduce((sum, item) => sum + item.words, 0) };
    cache.set(key, block);
  }
  return block;
}

/** Words of a block without domain-specific ones. */
export function blockWords(layout: BlockLayout, bitmap: number): number {
  return blockOf(layout, bitmap).words;
}

/**
 * Decodes the block whose words are `list[at ...]`; `domain` of them are domain-specific. Words missing in `list` count
 * as 0.
 *
 * @returns the hop, and the drop word of a report's metadata if present
 */
export function readBlock(
  layout: BlockLayout,
  bitmap: number,
  list: readonly number[],
  at = 0,
  domain: readonly number[] = [],
): { readonly hop: Hop; readonly drop: number | undefined } {
  const hop: Hop = {};
  let drop: number | undefined;
  let next = at;
  for (const item of blockOf(layout, bitmap).items) {
    const first = list[next] ?? 0;
    item.read?.(hop, first, item.words === 2 ? (list[next + 1] ?? 0) : 0);
    if (item.drop) drop = first;
    next += item.words;
  }
  if (domain.length > 0) hop.domain = bytesOf(domain);
  return { hop, drop };
}
