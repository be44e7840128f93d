/**
 * The part of the WebAssembly JavaScript interface that is used here. The package is compiled without the types of a
 * browser or of Node, so that it depends on neither.
 */

export interface WasmMemory {
  readonly buffer: ArrayBufferLike;
}

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

interface WebAssemblyInterface {
  readonly Memory: new (descriptor: { initial: number; maximum: number; shared: boolean }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: { env: { memory: WasmMemory } }) => WasmInstance;
}

/** The global `WebAssembly`, or undefined where there is none. */
export function webAssembly(): WebAssemblyInterface | undefined {
  return (globalThis as unknown as { WebAssembly?: WebAssemblyInterface }).WebAssembly;
}
