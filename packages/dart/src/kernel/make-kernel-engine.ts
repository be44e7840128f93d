import type { Geometry } from '../layout.js';
import type { StoreEngine } from '../store/engine.js';
import type { HashParameters } from '../store/hashes.js';
import type { SegmentPlace } from '../store/segment.js';

/** An engine in WebAssembly, and where its memory has the store's only segment. */
export interface KernelStore {
  readonly engine: StoreEngine;
  readonly place: SegmentPlace;
}

/** Makes the engine and the memory of a store of one segment; null where the platform cannot. */
export function makeKernelEngine(
  _geometry: Geometry,
  _parameters: HashParameters,
  _isShared: boolean,
): KernelStore | null {
  return null;
}
