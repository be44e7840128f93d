/**
 * The part of the WebAssembly JavaScript interface that is used here. The package is compiled without the types of a
 * browser or of Node, so that it depends on neither.
 */

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

interface WebAssemblyInterface {
  readonly Memory: new (descriptor: { initial: number; maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: { env: { memory: WasmMemory } }) => WasmInstance;
  validate(bytes: Uint8Array): boolean;
}

/** The global `WebAssembly`, or undefined where there is none. */
export function webAssembly(): WebAssemblyInterface | undefined {
  return (globalThis as { WebAssembly?: WebAssemblyInterface }).WebAssembly;
}
