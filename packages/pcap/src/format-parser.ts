import type { ChunkWindow } from './chunk-window.js';
import type { CaptureBatch, CaptureInterface } from './frame.js';

/** Byte order of the numbers in a capture. */
export type ByteOrder = 'little' | 'big';

/** Limits for the sizes in a capture. */
export interface CaptureLimits {
  /** Most captured bytes of a frame. */
  readonly maxFrameLength: number;
  /** Most bytes of a pcapng block. */
  readonly maxBlockLength: number;
  /** Most interfaces in a pcapng section. */
  readonly maxInterfaces: number;
}

/** The parser of one format. It takes only complete units from the window, so that it can be called again. */
export interface FormatParser {
  readonly byteOrder: ByteOrder;
  readonly interfaces: readonly CaptureInterface[];
  /** Offset of the header, record or block being read. */
  readonly unitOffset: number;
  /** True between records or blocks, the only places where a capture may end. */
  readonly isBetweenUnits: boolean;
  /**
   * Fills rows of `batch` from row 0, with frames that lie in one buffer, have one link type and belong to one section.
   * With the first frame it pins the window; the caller unpins it.
   * @returns rows filled; 0 if more bytes are needed first. The caller sets `batch.bytes` and `count`
   * @throws CaptureError if the capture is wrong at its next frame; after a frame it returns instead, and throws in the
   *   next call
   */
  fill(window: ChunkWindow, batch: CaptureBatch): number;
}

export function readU16(bytes: Uint8Array, offset: number, little: boolean): number {
  return little ? bytes[offset]! | (bytes[offset + 1]! << 8) : (bytes[offset]! << 8) | bytes[offset + 1]!;
}

export function readU32(bytes: Uint8Array, offset: number, little: boolean): number {
  const a = bytes[offset]!;
  const b = bytes[offset + 1]!;
  const c = bytes[offset + 2]!;
  const d = bytes[offset + 3]!;
  return (little ? a | (b << 8) | (c << 16) | (d << 24) : d | (c << 8) | (b << 16) | (a << 24)) >>> 0;
}

export function writeU16(bytes: Uint8Array, offset: number, value: number, little: boolean): void {
  bytes[little ? offset : offset + 1] = value & 0xff;
  bytes[little ? offset + 1 : offset] = value >>> 8;
}

export function writeU32(bytes: Uint8Array, offset: number, value: number, little: boolean): void {
  writeU16(bytes, little ? offset : offset + 2, value & 0xffff, little);
  writeU16(bytes, little ? offset + 2 : offset, value >>> 16, little);
}
