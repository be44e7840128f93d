/**
 * Instruction-bitmap plans.
 *
 * The form of one hop's block depends only on the layout (version or dialect) and the bitmap. A plan says for each word
 * of the block to which column it goes, and how. It is computed once and kept. So the cost of decoding a hop depends on
 * the words that are there, not on all possible instruction bits.
 */
import { FIELDS, type Field, type FieldVersion, SPLITS } from './fields.js';
import type { IntVersion } from './model.js';

/** What to do with a word of a block. */
export const OP = {
  /** Store as it is. */
  WORD: 0,
  /** A 32-bit timestamp. Its upper column becomes 0, or all ones if the word is all ones. Named is the upper column. */
  TIMESTAMP32: 1,
  /** Two 16-bit halves for two neighbouring columns; all ones if the word is all ones. Named is the upper column. */
  HALVES: 2,
  /** 2016 layout: bit 31 is the bottom-of-stack mark; the other bits are the value, 0x7fffffff is 'not available'. */
  VALUE31: 3,
  /** As VALUE31, for a timestamp. Its upper column becomes 0 or all ones. Named is the upper column. */
  TIMESTAMP31: 4,
  /** One of {@link SPLITS}, for two neighbouring columns; all ones if the word is. Named is the lower column. */
  SPLIT: 5,
  /** Queue id 8, drop reason 8, padding 16: belongs to the report, not to the hop. */
  DROP: 6,
  /** A word without meaning. */
  SKIP: 7,
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
  /** As GEANT_TS64, but bits 2 and 3 without bits 0 and 1 push latency and egress timestamp. */
  GEANT_NIBBLE3: 6,
  /** RepMdBits of report v2.0. */
  REPORT20: 7,
  /** RepMdBits of report v1.0, bit 0 of the six as bit 0 here. */
  REPORT10: 8,
} as const;

/** Layouts of the INT versions. */
export const VERSION_LAYOUT: Readonly<Record<IntVersion, number>> = {
  '0.5': LAYOUT.V05,
  '1.0': LAYOUT.V10,
  '2': LAYOUT.V2,
  '2016': LAYOUT.Y2016,
  intmon: LAYOUT.Y2016,
};

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
}

type Item = readonly [op: number, column: number];
const SKIP_WORD: readonly Item[] = [[OP.SKIP, 0]];
const DROP_WORD: readonly Item[] = [[OP.DROP, 0]];

/** The version that defines the instruction bits of each layout. For dialects this is v1.0. */
const VERSIONS: readonly FieldVersion[] = ['0.5', '1.0', '2', '2016', '1.0', '1.0', '1.0', '2', 'report-1.0'];

/** The items of an instruction bit in a layout, in wire order. Wire-format sections 5.1, 9.3, 9.5 and 10. */
function itemsOf(layout: number, bit: number): readonly Item[] {
  // The reporting node's id is in the report's header, and the drop reason is the report's.
  if (layout === LAYOUT.REPORT20 && bit === 0) return SKIP_WORD;
  if (layout === LAYOUT.REPORT20 && bit === 15) return DROP_WORD;
  if (layout === LAYOUT.REPORT10 && bit === 4) return DROP_WORD;
  const version = VERSIONS[layout]!;
  const found = FIELDS.filter(({ at }) => at[version] === bit);
  const named = found.filter(({ isReserved }) => isReserved !== true);
  const [field, other] = named.length > 0 ? named : found;
  if (field === undefined) return layout === LAYOUT.Y2016 ? SKIP_WORD : [];
  return other === undefined ? singleItem(layout, field) : doubleItem(layout, field, other);
}

function singleItem(layout: number, { bits, column }: Field): readonly Item[] {
  if (layout === LAYOUT.Y2016) return [[bits === 64 ? OP.TIMESTAMP31 : OP.VALUE31, column]];
  if (bits !== 64) return [[OP.WORD, column]];
  const has64BitTimes = layout === LAYOUT.V2 || layout === LAYOUT.REPORT20;
  if (!has64BitTimes && layout !== LAYOUT.GEANT_TS64 && layout !== LAYOUT.GEANT_NIBBLE3)
    return [[OP.TIMESTAMP32, column]];
  return [
    [OP.WORD, column],
    [OP.WORD, column + 1],
  ];
}

function doubleItem(layout: number, upper: Field, lower: Field): readonly Item[] {
  if (upper.bits + lower.bits === 32) return [[OP.SPLIT, lower.column]];
  if (layout !== LAYOUT.V2 && layout !== LAYOUT.REPORT20 && layout !== LAYOUT.V10) return [[OP.HALVES, upper.column]];
  return [
    [OP.WORD, upper.column],
    [OP.WORD, lower.column],
  ];
}

function build(layout: number, bitmap: number): Plan {
  const columns: number[] = [];
  const ops: number[] = [];
  let mask = 0;
  const bits: number[] = [];
  for (let bit = 0; bit < 16; bit++) if (bitmap & (0x8000 >>> bit)) bits.push(bit);
  // In this dialect the nibble 0x3 as a whole pushes hop latency and egress timestamp.
  if (layout === LAYOUT.GEANT_NIBBLE3 && (bitmap & 0xf000) === 0x3000) {
    bits.splice(bits.indexOf(3), 1, 5);
  }
  for (const bit of bits) {
    for (const [op, column] of itemsOf(layout, bit)) {
      columns.push(column);
      ops.push(op);
      if (op === OP.SKIP || op === OP.DROP) continue;
      mask |= 1 << column;
      if (op === OP.TIMESTAMP32 || op === OP.TIMESTAMP31 || op === OP.HALVES) mask |= 1 << (column + 1);
      if (op === OP.SPLIT) mask |= 1 << (column - 1);
    }
  }
  return {
    words: columns.length,
    columns: Uint8Array.from(columns),
    ops: Uint8Array.from(ops),
    mask: mask >>> 0,
  };
}

/** The plans made so far. */
const plans: Plan[] = [];
/**
 * For each layout: by bitmap, 1 + the plan's place in {@link plans}, or 0. A sparse array of plans would be a hash
 * table to the JavaScript engine, and slow.
 */
const places: (Uint32Array | undefined)[] = /* @__PURE__ */ Array.from({ length: LAYOUTS });

/** Bits of the lower part of each word that is split, by the column of that part. */
const LOWER_BITS: ReadonlyMap<number, number> = /* @__PURE__ */ new Map(
  SPLITS.map(({ column, bits }) => [column + 1, bits]),
);

/** Bits of the lower part of a word with `OP.SPLIT`, by its column. */
export function lowerBitsOf(column: number): number {
  return LOWER_BITS.get(column)!;
}

/**
 * The plan of a layout and a 16-bit instruction bitmap (bit 0 = 0x8000). Computed on first use, then kept: at most
 * 65,536 for each layout.
 */
export function planFor(layout: number, bitmap: number): Plan {
  places[layout] ??= new Uint32Array(0x10000);
  const placesOfLayout = places[layout]!;
  const place = placesOfLayout[bitmap]!;
  if (place !== 0) return plans[place - 1]!;
  const plan = build(layout, bitmap);
  placesOfLayout[bitmap] = plans.push(plan);
  return plan;
}
