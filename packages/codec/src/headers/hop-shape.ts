/**
 * How one hop's block is laid out, by layout and instruction bitmap.
 *
 * The order of words comes from `planFor`, which the batch decoder uses too; here a plan becomes steps that read and
 * write named values. Domain-specific words stand behind the baseline metadata, but before a Checksum Complement
 * (INT v2.1 section 5.8).
 */
import { HOP_COLUMNS, type HopColumn, type NumberName, type TimeName } from '../fields.js';
import type { Hop } from '../model.js';
import { LAYOUT, lowerBitsOf, OP, planFor } from '../plan.js';
import { requireFit } from './codec.js';
import { type Read, readOf } from './hop-read.js';

/** Reads and writes one metadata item at a byte offset within a block. */
export type Step =
  | { readonly kind: 'word' | 'value31'; readonly at: number; readonly name: NumberName }
  | {
      readonly kind: 'split';
      readonly at: number;
      readonly upper: NumberName;
      readonly lower: NumberName;
      /** Bits of the lower part: 16 or 24. */
      readonly shift: number;
    }
  | { readonly kind: 'pair'; readonly at: number; readonly upper: NumberName; readonly lower: NumberName }
  | { readonly kind: 'time64' | 'time32' | 'time31'; readonly at: number; readonly name: TimeName }
  | { readonly kind: 'drop' | 'skip' | 'skip31'; readonly at: number };

const timeName = (column: HopColumn): TimeName =>
  column.startsWith('ingress') ? 'ingressTimestamp' : 'egressTimestamp';

function wordStep(column: HopColumn, at: number): Step {
  if (column === 'ingressTimestampHigh' || column === 'egressTimestampHigh') {
    return { kind: 'time64', at, name: timeName(column) };
  }
  if (column === 'l2IngressInterface') {
    return { kind: 'pair', at, upper: 'l2IngressInterface', lower: 'l2EgressInterface' };
  }
  return { kind: 'word', at, name: column as NumberName };
}

function stepOf(op: number, index: number, at: number, layout: number): Step {
  const column = HOP_COLUMNS[index]!;
  switch (op) {
    case OP.WORD:
      return wordStep(column, at);
    case OP.TIMESTAMP32:
      return { kind: 'time32', at, name: timeName(column) };
    case OP.TIMESTAMP31:
      return { kind: 'time31', at, name: timeName(column) };
    case OP.HALVES:
      return { kind: 'split', at, upper: 'l2IngressInterface', lower: 'l2EgressInterface', shift: 16 };
    case OP.SPLIT: {
      const upper = HOP_COLUMNS[index - 1] as NumberName;
      return { kind: 'split', at, upper, lower: column as NumberName, shift: lowerBitsOf(index) };
    }
    case OP.VALUE31:
      return { kind: 'value31', at, name: column as NumberName };
    case OP.DROP:
      return { kind: 'drop', at };
    default:
      return { kind: layout === LAYOUT.Y2016 ? 'skip31' : 'skip', at };
  }
}

/** How a block is laid out. */
export interface BlockShape {
  readonly steps: readonly Step[];
  /** The same, for reading. */
  readonly reads: readonly Read[];
  /** A hop with all fields of the block, each unknown. */
  readonly empty: Hop;
  readonly domainOffset: number;
  readonly domainBytes: number;
  readonly byteLength: number;
}

/** Shapes last used: traffic has few, hostile traffic many, so their number is bounded. */
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

/** Names of what a step reads. */
function namesOf(step: Step): readonly (keyof Hop)[] {
  switch (step.kind) {
    case 'word':
    case 'value31':
    case 'time64':
    case 'time32':
    case 'time31':
      return [step.name];
    case 'split':
    case 'pair':
      return [step.upper, step.lower];
    default:
      return [];
  }
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
    const names = shapeOf(layout, 0x8000 >>> bit, 0).steps.flatMap(namesOf);
    if (names.some((name) => items.has(name))) bitmap |= 0x8000 >>> bit;
    for (const name of names) items.delete(name);
  }
  const [left] = items;
  if (left !== undefined) throw new TypeError(`no instruction of this INT version asks for ${left}`);
  return bitmap;
}
