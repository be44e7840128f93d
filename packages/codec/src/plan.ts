/**
 * Instruction-bitmap plans.
 *
 * How one hop's block is laid out depends only on the layout (version or dialect) and the bitmap. A plan says, word by
 * word, which column the word goes to and how; it is computed once per (layout, bitmap) and kept, so that decoding a
 * hop costs per word present and not per possible instruction bit.
 */
import { HOP_COLUMNS, type HopColumn } from './columns.js';

const column = (name: HopColumn): number => HOP_COLUMNS.indexOf(name);

/** What to do with a word of a block. */
export const OP = {
  /** Store as it is. */
  WORD: 0,
  /** A 32-bit timestamp: upper column 0, or all ones if the word is. The column named is the upper one. */
  TIMESTAMP32: 1,
  /** Two 16-bit halves into two neighbouring columns, all ones if the word is. */
  HALVES: 2,
  /** 2016 layout: bit 31 is the bottom-of-stack mark, 31 bits of value, 0x7fffffff is 'not available'. */
  VALUE31: 3,
  /** As VALUE31, into the upper half of a column. */
  UPPER31: 4,
  /** As VALUE31, into the lower half of a column that UPPER31 may have written. */
  LOWER31: 5,
  /** As VALUE31, a timestamp: upper column 0, or all ones. The column named is the upper one. */
  TIMESTAMP31: 6,
  /** Queue id 8, drop reason 8, padding 16: belongs to the report, not to the hop. */
  DROP: 7,
  /** Carried but without meaning: skip. */
  SKIP: 8,
} as const;

/** The layouts of a block: one for each version, and the dialects of public tools. */
export const LAYOUT = {
  V05: 0,
  V10: 1,
  V2: 2,
  /** 2016 draft: BOS bit and 31-bit values. */
  Y2016: 3,
  /** One word for every instruction in a v1.0 header (INTCollector, GEANT's generator). */
  ONE_WORD: 4,
  /** v1.0 with 8-byte timestamps and 2+2 byte level-2 ports (GEANT int-platforms). */
  GEANT_TS64: 5,
  /** As GEANT_TS64, and bits 2 and 3 without 0 and 1 push latency and egress timestamp. */
  GEANT_NIBBLE3: 6,
  /** RepMdBits of report v2.0. */
  REPORT20: 7,
  /** RepMdBits of report v1.0, bit 0 of the six as bit 0 here. */
  REPORT10: 8,
} as const;

const LAYOUTS = 9;

export interface Plan {
  /** Words of one block. */
  readonly words: number;
  /** Column of each word. */
  readonly columns: Uint8Array;
  /** What to do with each word, see `OP`. */
  readonly ops: Uint8Array;
  /** Bit c: the plan writes column c. */
  readonly mask: number;
  /** All ops are WORD. */
  readonly plain: boolean;
}

type Item = readonly [op: number, name: HopColumn];
const word = (name: HopColumn): readonly Item[] => [[OP.WORD, name]];
const reserved = (bit: number): readonly Item[] => word(`reserved${bit}` as HopColumn);
const SKIP_WORD: readonly Item[] = [[OP.SKIP, 'nodeId']];
const INGRESS32: readonly Item[] = [[OP.TIMESTAMP32, 'ingressTimestampHigh']];
const EGRESS32: readonly Item[] = [[OP.TIMESTAMP32, 'egressTimestampHigh']];
const INGRESS64: readonly Item[] = [...word('ingressTimestampHigh'), ...word('ingressTimestampLow')];
const EGRESS64: readonly Item[] = [...word('egressTimestampHigh'), ...word('egressTimestampLow')];
const L2_64: readonly Item[] = [...word('l2IngressInterface'), ...word('l2EgressInterface')];
const L2_32: readonly Item[] = [[OP.HALVES, 'l2IngressInterface']];

const Y2016: readonly (readonly Item[])[] = [
  [[OP.VALUE31, 'nodeId']],
  [[OP.UPPER31, 'l1Interfaces']],
  [[OP.VALUE31, 'hopLatency']],
  [[OP.VALUE31, 'queue']],
  [[OP.TIMESTAMP31, 'ingressTimestampHigh']],
  [[OP.LOWER31, 'l1Interfaces']],
  [[OP.VALUE31, 'congestion']],
  [[OP.VALUE31, 'egressUtilization']],
];

/** Items of instruction bit `bit` in a layout, in wire order. Wire-format sections 5.1, 9.3, 9.5 and 10. */
function itemsOf(layout: number, bit: number): readonly Item[] {
  switch (layout) {
    case LAYOUT.Y2016:
      return Y2016[bit] ?? SKIP_WORD;
    case LAYOUT.REPORT10:
      return (
        [
          word('l1Interfaces'),
          word('hopLatency'),
          word('queue'),
          EGRESS32,
          [[OP.DROP, 'nodeId']] as Item[],
          word('egressUtilization'),
        ][bit] ?? []
      );
    case LAYOUT.REPORT20:
      if (bit === 0) return SKIP_WORD;
      if (bit === 15) return [[OP.DROP, 'nodeId']];
      break;
    default:
  }
  const wide = layout === LAYOUT.V2 || layout === LAYOUT.REPORT20;
  const wideTimestamps = wide || layout === LAYOUT.GEANT_TS64 || layout === LAYOUT.GEANT_NIBBLE3;
  switch (bit) {
    case 0:
      return word('nodeId');
    case 1:
      return word('l1Interfaces');
    case 2:
      return word('hopLatency');
    case 3:
      return word('queue');
    case 4:
      return wideTimestamps ? INGRESS64 : INGRESS32;
    case 5:
      return wideTimestamps ? EGRESS64 : EGRESS32;
    case 6:
      if (layout === LAYOUT.V05) return word('congestion');
      return wide || layout === LAYOUT.V10 ? L2_64 : L2_32;
    case 7:
      return word('egressUtilization');
    case 8:
      return wide ? word('buffer') : reserved(8);
    case 15:
      return layout === LAYOUT.V05 ? reserved(15) : word('checksumComplement');
    default:
      return reserved(bit);
  }
}

function build(layout: number, bitmap: number): Plan {
  const columns: number[] = [];
  const ops: number[] = [];
  let mask = 0;
  const bits: number[] = [];
  for (let bit = 0; bit < 16; bit++) if (bitmap & (0x8000 >>> bit)) bits.push(bit);
  // The dialect's quirk stands for the whole nibble: 0x3 pushes hop latency and egress timestamp.
  if (layout === LAYOUT.GEANT_NIBBLE3 && (bitmap & 0xf000) === 0x3000) {
    bits.splice(bits.indexOf(3), 1, 5);
  }
  for (const bit of bits) {
    for (const [op, name] of itemsOf(layout, bit)) {
      columns.push(column(name));
      ops.push(op);
      if (op === OP.SKIP || op === OP.DROP) continue;
      mask |= 1 << column(name);
      if (op === OP.TIMESTAMP32 || op === OP.TIMESTAMP31 || op === OP.HALVES) mask |= 1 << (column(name) + 1);
    }
  }
  return {
    words: columns.length,
    columns: Uint8Array.from(columns),
    ops: Uint8Array.from(ops),
    mask: mask >>> 0,
    plain: ops.every((op) => op === OP.WORD),
  };
}

const cache: (Plan | undefined)[][] = /* @__PURE__ */ Array.from({ length: LAYOUTS }, () => []);

/**
 * The plan of a layout and a 16-bit instruction bitmap (bit 0 = 0x8000). Computed on first use, then kept: at most
 * 65,536 for each layout.
 */
export function planFor(layout: number, bitmap: number): Plan {
  const plans = cache[layout]!;
  let plan = plans[bitmap];
  if (plan === undefined) {
    plan = build(layout, bitmap);
    plans[bitmap] = plan;
  }
  return plan;
}
