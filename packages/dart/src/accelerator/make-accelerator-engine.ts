import { AcceleratorMemory } from '@int/codec';
import type { StoreGeometry } from '../layout.js';
import type { HashParameters } from '../store/hashes.js';
import type { SegmentPlace } from '../store/segment.js';
import { AcceleratorEngine, storeAcceleratorAvailable } from './accelerator-engine.js';

const MOST_BYTES = 2 ** 32;
/** Address space next to a store, for rows of the caller. */
const SPARE_BYTES = 1 << 24;

/** An engine in WebAssembly, and where its memory has the store's only segment. */
export interface AcceleratorStore {
  readonly engine: AcceleratorEngine;
  readonly place: SegmentPlace;
}

/**
 * Makes the engine and the memory of a store of one segment; null where there is no WebAssembly with SIMD and atomics,
 * where its 4 GiB are too small for the store, or where there is not that much address space.
 */
export function makeAcceleratorEngine(
  geometry: StoreGeometry,
  parameters: HashParameters,
  isShared: boolean,
): AcceleratorStore | null {
  const bytes = AcceleratorEngine.byteLength(geometry) + 64;
  if (bytes > MOST_BYTES || geometry.segments.length > 1 || !storeAcceleratorAvailable()) return null;
  try {
    const memory = new AcceleratorMemory(Math.min(bytes + SPARE_BYTES, MOST_BYTES), isShared);
    const engine = new AcceleratorEngine(memory, geometry, parameters, isShared);
    return { engine, place: engine.place };
  } catch (error) {
    // There is no memory.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
