/**
 * How one hop's block is laid out, by layout and instruction bitmap.
 *
 * `planFor` gives the order of the words, here and in the batch decoder. Here a plan becomes steps that read and write
 * named values. Domain-specific words stand behind the baseline metadata, but before a Checksum Complement (INT v2.1
 * section 5.8).
 */
import { HOP_COLUMNS, type HopColumn, type NumberName, type TimeName } from '../fields.js';
import type { Hop } from '../model.js';
import { LAYOUT, lowerBitsOf, OP, planFor } from '../plan.js';
import { requireFit } from './codec.js';
import { type Read, readOf } from './hop-read.js';

/** A value in an item, with its width in bits. */
export type Part = readonly [name: NumberName | TimeName, width: number];

/** One metadata item: what it is, where it stands within a block, and the values in it, the uppermost first. */
export interface Step {
  readonly kind:
    | 'word'
    | 'value31'
    /** Two values in one word. */
    | 'split'
    /** Two words that are missing only together. */
    | 'pair'
    | 'time64'
    | 'time32'
    | 'time31'
    | 'drop'
    | 'skip'
    | 'skip31';
  readonly at: number;
  readonly parts: readonly Part[];
}

const timeName = (column: HopColumn): TimeName =>
  column.startsWith('ingress') ? 'ingressTimestamp' : 'egressTimestamp';

function wordStep(column: HopColumn, at: number): Step {
  if (column === 'ingressTimestampHigh' || column === 'egressTimestampHigh') {
    return { kind: 'time64', at, parts: [[timeName(column), 64]] };
  }
  if (column === 'l2IngressInterface') return { kind: 'pair', at, parts: levelTwo(32) };
  return { kind: 'word', at, parts: [[column as NumberName, 32]] };
}

const levelTwo = (width: number): readonly Part[] => [
  ['l2IngressInterface', width],
  ['l2EgressInterface', width],
];

function stepOf(op: number, index: number, at: number, layout: number): Step {
  const column = HOP_COLUMNS[index]!;
  switch (op) {
    case OP.WORD:
      return wordStep(column, at);
    case OP.TIMESTAMP32:
      return { kind: 'time32', at, parts: [[timeName(column), 32]] };
    case OP.TIMESTAMP31:
      return { kind: 'time31', at, parts: [[timeName(column), 31]] };
    case OP.HALVES:
      return { kind: 'split', at, parts: levelTwo(16) };
    case OP.SPLIT: {
      const lower = lowerBitsOf(index);
      const upper = HOP_COLUMNS[index - 1] as NumberName;
      return {
        kind: 'split',
        at,
        parts: [
          [upper, 32 - lower],
          [column as NumberName, lower],
        ],
      };
    }
    case OP.VALUE31:
      return { kind: 'value31', at, parts: [[column as NumberName, 31]] };
    case OP.DROP:
      return { kind: 'drop', at, parts: [] };
    default:
      return { kind: layout === LAYOUT.Y2016 ? 'skip31' : 'skip', at, parts: [] };
  }
}

/** How a block is laid out. */
export interface BlockShape {
  readonly steps: readonly Step[];
  /** The same steps, in the form for reading. */
  readonly reads: readonly Read[];
  /** A hop with all fields of the block, each unknown. */
  readonly empty: Hop;
  readonly domainOffset: number;
  readonly domainBytes: number;
  readonly byteLength: number;
}

/** Shapes in use. Normal traffic has few; hostile traffic may have many, so their number is bounded. */
const shapes = /* @__PURE__ */ new Map<number, BlockShape>();
const MAX_SHAPES = 1024;

export function shapeOf(layout: number, bitmap: number, domainBytes: number): BlockShape {
  requireFit('bitmap', bitmap, 16);
  if (!(Number.isInteger(domainBytes) && domainBytes >= 0 && domainBytes % 4 === 0)) {
    throw new RangeError(`domainBytes must be a multiple of 4, not ${domainBytes}`);
  }
  const key = (domainBytes * 16 + layout) * 0x10000 + bitmap;
  let shape = shapes.get(key);
  if (shape === undefined) {
    if (shapes.size === MAX_SHAPES) shapes.clear();
    shape = buildShape(layout, bitmap, domainBytes);
    shapes.set(key, shape);
  }
  return shape;
}

function buildShape(layout: number, bitmap: number, domainBytes: number): BlockShape {
  const plan = planFor(layout, bitmap);
  const complement = layout === LAYOUT.V2 && (bitmap & 1) !== 0;
  const domainOffset = (plan.words - (complement ? 1 : 0)) * 4;
  const steps: Step[] = [];
  for (let word = 0; word < plan.words; word++) {
    const at = word * 4 + (complement && word === plan.words - 1 ? domainBytes : 0);
    const step = stepOf(plan.ops[word]!, plan.columns[word]!, at, layout);
    steps.push(step);
    if (step.kind === 'time64' || step.kind === 'pair') word++;
  }
  const reads = steps.map(readOf);
  const empty: Hop = {};
  for (const read of reads) {
    read.set(empty, null);
    read.setLower(empty, null);
    read.setTime(empty, null);
  }
  return { steps, reads, empty, domainOffset, domainBytes, byteLength: plan.words * 4 + domainBytes };
}

/**
 * The instruction bitmap that asks for all items of the hops.
 *
 * @throws TypeError for an item that no instruction of the layout asks for
 */
export function instructionsOf(layout: number, hops: readonly Hop[]): number {
  const items = new Set(hops.flatMap((hop) => Object.keys(hop) as (keyof Hop)[]));
  items.delete('domain');
  let bitmap = 0;
  for (let bit = 0; bit < 16; bit++) {
    const names = shapeOf(layout, 0x8000 >>> bit, 0).steps.flatMap(({ parts }) => parts.map(([name]) => name));
    if (names.some((name) => items.has(name))) bitmap |= 0x8000 >>> bit;
    for (const name of names) items.delete(name);
  }
  const [left] = items;
  if (left !== undefined) throw new TypeError(`no instruction of this INT version asks for ${left}`);
  return bitmap;
}
