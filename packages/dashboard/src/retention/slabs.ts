/** Blocks of whole reports and events on their way from the pipeline's thread to that of the dashboard. */
import { Arena, type BatchCapacity, TelemetryBatch } from '@int/codec';
import { type Detector, EventBatch } from '@int/detect';

/** Why a report is in a slab: bits of {@link Slab.why}. */
export const WHY = {
  /** It is part of the sample: {@link Slab.place} says of which flow, and in which place. */
  SAMPLE: 1,
  /** It has events. */
  EVENT: 2,
  /** It is for packet-level subscriptions. */
  TAP: 4,
  /** It is no report, but says when and what an event is about. */
  APART: 8,
} as const;

/** Places of a flow in the sample of a second. */
export const PLACES = 64;

/** The {@link Slab.place} of what belongs to no flow. */
export const NO_FLOW = 0xffffffff;

export const SLABS = 20;
/** Slabs that the dashboard's thread may keep until their second is over. */
export const HELD_SLABS = 11;
const CAPACITY: Required<BatchCapacity> = { frames: 1024, reports: 1024, hops: 8192, bytes: 1 << 19 };
const EVENTS = 1024;

/** A slab is free, or the dashboard's thread has it. */
const STATE = { FREE: 0, FULL: 1 } as const;

/** The memory of a slab, for `postMessage`. */
export type SlabMemory = SharedArrayBuffer;

export function slabMemory(): SlabMemory {
  const bytes = TelemetryBatch.byteLength(CAPACITY) + EventBatch.byteLength(EVENTS);
  return new SharedArrayBuffer(64 + bytes + CAPACITY.reports * 3 * 4 + 64 * 4);
}

/** A slab, in either thread. */
export class Slab {
  readonly batch: TelemetryBatch;
  readonly events: EventBatch;
  /** By report: see {@link WHY}. */
  readonly why: Uint32Array;
  /** By report: row of its flow * {@link PLACES} + place in the sample. */
  readonly place: Uint32Array;
  /** By report: its index in its frame. */
  readonly index: Uint32Array;
  /** Names of the rules in its events, by slot: set by who reads it. */
  names: ReadonlyMap<number, string | null> = new Map();
  readonly #state: Int32Array;

  constructor(memory: SlabMemory) {
    const arena = new Arena(memory);
    this.#state = new Int32Array(memory, arena.take(64), 16);
    this.batch = new TelemetryBatch(CAPACITY, arena);
    this.events = new EventBatch(EVENTS, arena);
    this.why = arena.words(CAPACITY.reports);
    this.place = arena.words(CAPACITY.reports);
    this.index = arena.words(CAPACITY.reports);
    this.events.attach(this.batch, { ruleName: (slot: number) => this.names.get(slot) ?? null } as Detector);
  }

  get isFree(): boolean {
    return Atomics.load(this.#state, 0) === STATE.FREE;
  }

  /** Hands it to the other thread, which {@link release}s it. */
  handOver(): void {
    Atomics.store(this.#state, 0, STATE.FULL);
  }

  release(): void {
    Atomics.store(this.#state, 0, STATE.FREE);
  }

  clear(): void {
    this.batch.clear();
    this.events.clear();
  }
}

/** What comes with a slab. */
export interface SlabNote {
  readonly slab: number;
  /** Second of the pipeline's time; the sample of earlier ones is complete. */
  readonly second: number;
  /** Names of the rules in its events, by slot. */
  readonly rules: readonly (readonly [slot: number, name: string | null])[];
}
