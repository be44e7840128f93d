/**
 * The memory of one queue: what the kernel writes frames into, and the batches that are made of them. The thread that
 * receives and, if that is another one, the thread that runs the pipeline both have it; the places follow from the geometry.
 */
import { AcceleratorMemory, Arena, TelemetryBatch } from '@int/codec';
import { acceleratorAvailable } from '@int/codec/internals';
import type { FrameBatch } from '@int/collector';
import { XdpBatch } from '../batch.js';
import { umemBytes } from '../options.js';
import type { QueueGeometry } from './options.js';

/** Words that the two threads have in common. */
export const CONTROL = {
  /** Batches handed on since the start: written by the thread that receives. */
  FILLED: 0,
  /** Batches given back since the start: written by the thread that runs the pipeline. */
  FREED: 1,
  /** See {@link COMMAND}. */
  COMMAND: 2,
  /** 1 when the socket has been closed and the figures are final. */
  DONE: 3,
} as const;
const CONTROL_WORDS = 16;

/** What the receiving thread is to do. */
export const COMMAND = { WAIT: 0, GO: 1, DRAIN: 2 } as const;

/** Figures of the socket as 64-bit floats, in this order. */
export const FIGURES = ['received', 'rxDropped', 'rxRingFull', 'fillRingEmpty'] as const;

/** What the kernel and the socket have counted. */
export type Figures = Record<(typeof FIGURES)[number], number>;

/** Rows of a batch: a frame of the largest size has fewer reports and hop rows than these leave for one. */
function rowsOf({ batchFrames }: QueueGeometry): { frames: number; reports: number; hops: number } {
  const reports = Math.max(1024, 2 * batchFrames);
  return { frames: batchFrames, reports, hops: Math.max(4096, 16 * batchFrames) };
}

const LINE = 64;
const line = (bytes: number): number => Math.ceil(bytes / LINE) * LINE;
/** Tables of the decoder's accelerator, with the least staging area, and a reserve. */
const KERNEL_BYTES = 1 << 20;

/** Bytes of all that {@link QueueMemory} takes. */
function bytesOf(geometry: QueueGeometry): number {
  const { batchFrames, batches } = geometry;
  const slot = TelemetryBatch.byteLength(rowsOf(geometry)) + 6 * line(4 * batchFrames);
  return umemBytes(geometry) + batches * slot + 16 * LINE + KERNEL_BYTES;
}

/** One batch of frames on its way from the socket through the pipeline and back. */
export class Slot implements FrameBatch {
  readonly linkType = 'ethernet';
  readonly index: number;
  /** Where the frames are, for the socket. */
  readonly frames: XdpBatch;
  readonly timestampsHigh: Uint32Array;
  readonly timestampsLow: Uint32Array;
  readonly decoded: TelemetryBatch;
  /** All frames of the socket. */
  bytes: Uint8Array = new Uint8Array(0);
  readonly #count: Int32Array;

  constructor(index: number, arena: Arena, geometry: QueueGeometry, counts: Int32Array) {
    this.index = index;
    this.frames = new XdpBatch(geometry.batchFrames, arena);
    this.timestampsHigh = arena.words(geometry.batchFrames);
    this.timestampsLow = arena.words(geometry.batchFrames);
    this.decoded = new TelemetryBatch(rowsOf(geometry), arena);
    this.#count = counts.subarray(index, index + 1);
  }

  get offsets(): Uint32Array {
    return this.frames.offsets;
  }

  get lengths(): Uint32Array {
    return this.frames.lengths;
  }

  /** Frames held, as both threads see it; `frames.count` is the socket's own. */
  get count(): number {
    return this.#count[0]!;
  }

  set count(count: number) {
    this.#count[0] = count;
  }
}

export class QueueMemory {
  readonly geometry: QueueGeometry;
  /** `null`: no accelerator can run here, or this is the thread that does not decode. */
  readonly accelerator: AcceleratorMemory | null;
  readonly buffer: ArrayBufferLike;
  readonly control: Int32Array;
  readonly figures: Float64Array;
  readonly slots: readonly Slot[];
  /** For the socket, which aligns its frames inside. */
  readonly umem: Uint8Array;

  /** Memory of this thread's own, or that threads share. Making it over shared memory empties it. */
  static allocate(geometry: QueueGeometry, isShared: boolean): QueueMemory {
    const bytes = bytesOf(geometry);
    if (acceleratorAvailable()) {
      const accelerator = new AcceleratorMemory(bytes, isShared);
      return new QueueMemory(geometry, accelerator.arena, accelerator);
    }
    const buffer = isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
    return new QueueMemory(geometry, new Arena(buffer, LINE), null);
  }

  /** The memory that another thread has allocated. */
  static attach(geometry: QueueGeometry, buffer: SharedArrayBuffer): QueueMemory {
    return new QueueMemory(geometry, new Arena(buffer, LINE), null);
  }

  private constructor(geometry: QueueGeometry, arena: Arena, accelerator: AcceleratorMemory | null) {
    this.geometry = geometry;
    this.accelerator = accelerator;
    this.buffer = arena.buffer;
    this.control = new Int32Array(arena.buffer, arena.take(4 * CONTROL_WORDS), CONTROL_WORDS);
    this.figures = new Float64Array(arena.buffer, arena.take(8 * FIGURES.length), FIGURES.length);
    const counts = new Int32Array(arena.buffer, arena.take(4 * geometry.batches), geometry.batches);
    this.slots = Array.from({ length: geometry.batches }, (_, index) => new Slot(index, arena, geometry, counts));
    this.umem = arena.bytes(umemBytes(geometry));
  }

  /** Tells the slots where the socket has put its frames. */
  bind(bytes: Uint8Array): void {
    for (const slot of this.slots) slot.bytes = bytes;
  }

  writeFigures(figures: Figures): void {
    for (const [index, name] of FIGURES.entries()) this.figures[index] = figures[name];
  }

  readFigures(): Figures {
    return Object.fromEntries(FIGURES.map((name, index) => [name, this.figures[index]!])) as Figures;
  }
}
