import { KernelMemory } from '@int/codec';
import type { Geometry } from '../layout.js';
import type { HashParameters } from '../store/hashes.js';
import type { SegmentPlace } from '../store/segment.js';
import { KernelEngine, storeKernelAvailable } from './kernel-engine.js';

const MOST_BYTES = 2 ** 32;
/** Address space next to a store, for rows of the caller. */
const SPARE_BYTES = 1 << 24;

/** An engine in WebAssembly, and where its memory has the store's only segment. */
export interface KernelStore {
  readonly engine: KernelEngine;
  readonly place: SegmentPlace;
}

/**
 * Makes the engine and the memory of a store of one segment; null where there is no WebAssembly with SIMD and atomics,
 * where its 4 GiB are too small for the store, or where there is not that much address space.
 */
export function makeKernelEngine(
  geometry: Geometry,
  parameters: HashParameters,
  isShared: boolean,
): KernelStore | null {
  const bytes = KernelEngine.byteLength(geometry) + 64;
  if (bytes > MOST_BYTES || geometry.segments.length > 1 || !storeKernelAvailable()) return null;
  try {
    const memory = new KernelMemory(Math.min(bytes + SPARE_BYTES, MOST_BYTES), isShared);
    const engine = new KernelEngine(memory, geometry, parameters, isShared);
    return { engine, place: engine.place };
  } catch (error) {
    // There is no memory.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
