import { makeAcceleratorEngine } from '../accelerator/accelerator-engine.js';
import type { Comparison, Engine } from './engine.js';
import type { ResolvedOptions } from './options.js';
import { PlainEngine } from './plain-engine.js';

/** The engine for the options: WebAssembly where it is wanted and can run, else TypeScript. */
export function makeEngine(options: ResolvedOptions, comparison: Comparison | undefined): Engine {
  const { geometry, hash, seed, shared } = options;
  const accelerator = options.accelerator ? makeAcceleratorEngine(options) : undefined;
  if (accelerator !== undefined) return accelerator;
  const buffer = shared ? new SharedArrayBuffer(geometry.byteLength) : new ArrayBuffer(geometry.byteLength);
  return new PlainEngine(new Int32Array(buffer), geometry, hash, seed, comparison);
}
