import { AcceleratorMemory } from '@int/codec';
import type { StoreGeometry } from '../layout.js';
import type { HashParameters } from '../store/hashes.js';
import { AcceleratorEngine, storeAcceleratorAvailable } from './accelerator-engine.js';

const MOST_BYTES = 2 ** 32;
/** Address space beside the store, for the caller's rows. */
const SPARE_BYTES = 1 << 24;

/**
 * Makes the engine and the memory of a store of one segment. Returns null without WebAssembly with SIMD and atomics, if
 * the store exceeds 4 GiB, or if address space is short.
 */
export function makeAcceleratorEngine(
  geometry: StoreGeometry,
  parameters: HashParameters,
  isShared: boolean,
): AcceleratorEngine | null {
  const bytes = AcceleratorEngine.byteLength(geometry) + 64;
  if (bytes > MOST_BYTES || geometry.segments.length > 1 || !storeAcceleratorAvailable()) return null;
  try {
    const memory = new AcceleratorMemory(Math.min(bytes + SPARE_BYTES, MOST_BYTES), isShared);
    return new AcceleratorEngine(memory, geometry, parameters, isShared);
  } catch (error) {
    // Not enough memory.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
