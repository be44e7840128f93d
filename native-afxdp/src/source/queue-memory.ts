/**
 * The memory of one queue: what the kernel writes frames into, and the batches that are made of them. The thread that
 * receives and, if that is another one, the thread that runs the pipeline both have it; the places follow from the geometry.
 */
import { AcceleratorMemory, Arena, type BatchDecoder, TelemetryBatch } from '@int/codec';
import { acceleratorAvailable } from '@int/codec/internals';
import type { SourceFrames } from '@int/collector';
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

/** Commands to the receiving thread. */
export const COMMAND = { WAIT: 0, GO: 1, DRAIN: 2 } as const;

/** Figures of the socket as 64-bit floats, in this order. */
export const FIGURES = ['received', 'rxDropped', 'rxRingFull', 'fillRingEmpty'] as const;

/** The counters of the kernel and the socket. */
export type Figures = Record<(typeof FIGURES)[number], number>;

/** Rows of a batch: a frame of the largest size has fewer reports and hop rows than these leave for one. */
function rowsOf({ batchFrames }: QueueGeometry): { frames: number; reports: number; hops: number } {
  const reports = Math.max(1024, 2 * batchFrames);
  return { frames: batchFrames, reports, hops: Math.max(4096, 16 * batchFrames) };
}

const LINE = 64;
/** Tables of the decoder's accelerator, with the least staging area, and a reserve. */
const KERNEL_BYTES = 1 << 20;

/** Bytes of all that {@link QueueMemory} takes. */
function bytesOf(geometry: QueueGeometry): number {
  const { batches } = geometry;
  const slot = TelemetryBatch.byteLength(rowsOf(geometry));
  return umemBytes(geometry) + batches * slot + 16 * LINE + KERNEL_BYTES;
}

/**
 * One batch on its way from the socket through the pipeline and back. The socket writes where its frames lie into the batch's own
 * columns, which both threads have.
 */
export class Slot {
  readonly index: number;
  /** Where the frames are, for the socket. */
  readonly frames: XdpBatch;
  /** The frames, decoded as far as there is room. */
  readonly batch: TelemetryBatch;
  /** Times of the frames: the batch's own columns. */
  readonly timestampsHigh: Uint32Array;
  readonly timestampsLow: Uint32Array;
  readonly #count: Int32Array;
  /** All frames of the socket. */
  #bytes: Uint8Array = new Uint8Array(0);

  constructor(index: number, arena: Arena, geometry: QueueGeometry, counts: Int32Array) {
    this.index = index;
    this.batch = new TelemetryBatch(rowsOf(geometry), arena);
    this.timestampsHigh = this.batch.frameTimeHigh;
    this.timestampsLow = this.batch.frameTimeLow;
    const columns = [this.batch.frameOffset, this.batch.frameLength];
    this.frames = new XdpBatch(geometry.batchFrames, { words: () => columns.shift()! });
    this.#count = counts.subarray(index, index + 1);
  }

  /** Tells where the socket has put its frames. */
  bind(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.batch.bytes = bytes;
  }

  /** Frames held, as both threads see it; `frames.count` is the socket's own. */
  get count(): number {
    return this.#count[0]!;
  }

  set count(count: number) {
    this.#count[0] = count;
  }

  /** The frames from row `from` on. */
  from(from: number): SourceFrames {
    const { count } = this;
    return {
      linkType: 'ethernet',
      bytes: this.#bytes,
      offsets: this.frames.offsets.subarray(from, count),
      lengths: this.frames.lengths.subarray(from, count),
      timestampsHigh: this.timestampsHigh.subarray(from, count),
      timestampsLow: this.timestampsLow.subarray(from, count),
      count: count - from,
    };
  }

  /** Decodes what the socket has received: as many frames as there is room for. */
  decode(decoder: BatchDecoder): void {
    const { batch, count, timestampsHigh, timestampsLow } = this;
    const { offsets, lengths } = this.frames;
    batch.clear();
    decoder.decode(batch, { bytes: this.#bytes, offsets, lengths, timestampsHigh, timestampsLow, count });
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
    for (const slot of this.slots) slot.bind(bytes);
  }

  writeFigures(figures: Figures): void {
    for (const [index, name] of FIGURES.entries()) this.figures[index] = figures[name];
  }

  readFigures(): Figures {
    return Object.fromEntries(FIGURES.map((name, index) => [name, this.figures[index]!])) as Figures;
  }
}
