import type { AcceleratorMemory } from '@int/codec';
import { canRunAccelerator, signed } from '@int/codec/internals';
import type { BatchView } from '../batch-view.js';
import type { LoopContext } from '../loops/context.js';
import { LOOP_NAMES, type LoopName, type RunningRule } from '../running-rule.js';
import type { StatePool } from '../state.js';
import { DETECT_WASM } from './detect.wasm.js';

/** Words of the context block, in the order of `assembly/context.ts`. */
const CONTEXT = {
  HOPS: 0,
  HOP_STRIDE: 1,
  REPORT: 2,
  REPORT_STRIDE: 3,
  HOP_COUNT: 4,
  CODE: 5,
  PROTOCOL: 6,
  HASHES: 7,
  CELLS: 8,
  DECISIONS: 9,
  EVENTS: 10,
  EVENT_STRIDE: 11,
  STATE: 12,
  SWITCH_MASK: 13,
  FLOW_CELLS: 14,
  POSITIONS: 15,
  TABLES: 16,
  COUNT: 17,
  SURVIVORS: 18,
  WITHOUT_FLOW: 19,
  BEYOND_POSITIONS: 20,
  UNIFORM: 21,
} as const;
const CONTEXT_WORDS = 32;
const TABLE_WORDS = 13 * 256;

type Numbers = (...numbers: number[]) => void;
/** A complex event has evidence, which only the loop in TypeScript writes. */
type Exports = { readonly [K in 'attach' | 'init' | 'hashRows' | Exclude<LoopName, 'complex'>]: Numbers } & {
  readonly complex?: Numbers;
  readonly prepare: (...numbers: number[]) => number;
};

const PER_HOP = /* @__PURE__ */ LOOP_NAMES.indexOf('perHop');

/**
 * The loops as a WebAssembly accelerator, for batches, events and state in one memory. It does what the loops in
 * TypeScript do, event by event and cell by cell. {@link Accelerator.takes} tells for which rules it has no loop.
 */
export class Accelerator {
  readonly #buffer: ArrayBufferLike;
  readonly #exports: Exports;
  /** In the order of LOOP_NAMES. All take the same numbers, and leave out the last ones that they have no use for. */
  readonly #loops: readonly (Numbers | undefined)[];
  readonly #context: Int32Array;

  /** Bytes it takes of the memory. */
  static readonly byteLength: number = (CONTEXT_WORDS + TABLE_WORDS) * 4 + 128;

  /**
   * The accelerator, or `null` where the engine cannot run it.
   * @param switchMask number of switch cells minus one if that is a mask, else -1
   */
  static over(memory: AcceleratorMemory, pool: StatePool, switchMask: number): Accelerator | null {
    return canRunAccelerator(DETECT_WASM) ? new Accelerator(memory, pool, switchMask) : null;
  }

  private constructor(memory: AcceleratorMemory, pool: StatePool, switchMask: number) {
    this.#buffer = memory.buffer;
    this.#context = signed(memory.words(CONTEXT_WORDS));
    const tables = memory.words(TABLE_WORDS);
    this.#exports = memory.instantiate(DETECT_WASM) as unknown as Exports;
    this.#loops = LOOP_NAMES.map((name) => this.#exports[name]);
    const context = this.#context;
    context[CONTEXT.STATE] = pool.words.byteOffset;
    context[CONTEXT.SWITCH_MASK] = switchMask;
    context[CONTEXT.FLOW_CELLS] = pool.cells.flowCells;
    context[CONTEXT.POSITIONS] = pool.cells.positions;
    context[CONTEXT.TABLES] = tables.byteOffset;
    this.#exports.attach(context.byteOffset);
    this.#exports.init();
  }

  /** Whether these columns and events lie in its memory. */
  reaches(view: BatchView, events: Int32Array): boolean {
    return view.hops.buffer === this.#buffer && view.cells.buffer === this.#buffer && events.buffer === this.#buffer;
  }

  /** Whether it has a loop for a rule. */
  takes(rule: RunningRule): boolean {
    const isOneWord = rule.reading.pair === rule.reading.column;
    const hasSwitches = rule.loop !== PER_HOP || this.#context[CONTEXT.SWITCH_MASK]! >= 0;
    return (
      this.#loops[rule.loop] !== undefined &&
      isOneWord &&
      hasSwitches &&
      !rule.marksFirst &&
      rule.switchThresholds === null
    );
  }

  /** Points it at a batch and at where events go. */
  open(view: BatchView, context: LoopContext): void {
    const block = this.#context;
    block[CONTEXT.HOPS] = view.hops.byteOffset;
    block[CONTEXT.HOP_STRIDE] = view.hopStride * 4;
    block[CONTEXT.REPORT] = view.report.byteOffset;
    block[CONTEXT.REPORT_STRIDE] = view.reportStride * 4;
    block[CONTEXT.HOP_COUNT] = view.hopCount.byteOffset;
    block[CONTEXT.CODE] = view.code.byteOffset;
    block[CONTEXT.PROTOCOL] = view.protocol.byteOffset;
    block[CONTEXT.HASHES] = view.hashes.byteOffset;
    block[CONTEXT.CELLS] = view.cells.byteOffset;
    block[CONTEXT.DECISIONS] = view.decisions.byteOffset;
    block[CONTEXT.EVENTS] = context.events.byteOffset;
    block[CONTEXT.EVENT_STRIDE] = context.eventStride * 4;
  }

  /** CRC-32 of the flows of rows. */
  hashRows(from: number, to: number): void {
    this.#exports.hashRows(from, to);
  }

  /**
   * Finds decisions and cells of rows that one rule decides, as far as events have room. @returns the end of those rows
   */
  prepare(from: number, to: number, room: number, slot: number, needsFlow: boolean): number {
    return this.#exports.prepare(from, to, room, slot, needsFlow ? 1 : 0);
  }

  /** Whether all rows of the last {@link prepare} have one decision. */
  get isUniform(): boolean {
    return this.#context[CONTEXT.UNIFORM] === 1;
  }

  /** Looks at rows of a rule that it {@link takes}. */
  run(context: LoopContext, rule: RunningRule, from: number, to: number): void {
    const block = this.#context;
    block[CONTEXT.COUNT] = context.count;
    block[CONTEXT.SURVIVORS] = 0;
    block[CONTEXT.WITHOUT_FLOW] = 0;
    block[CONTEXT.BEYOND_POSITIONS] = 0;
    const { slot, eventKind, reading, threshold, state, reported, smoothing } = rule;
    this.#loops[rule.loop]!(from, to, slot, eventKind, reading.column, threshold, state, reported, smoothing);
    context.count = block[CONTEXT.COUNT]!;
    context.survivors += block[CONTEXT.SURVIVORS]!;
    context.withoutFlow += block[CONTEXT.WITHOUT_FLOW]!;
    context.beyondPositions += block[CONTEXT.BEYOND_POSITIONS]!;
  }
}
