/** The parts used here: the package's own types are not reachable through its `exports`. */
declare module 'binary-parser' {
  export class Parser {
    endianness(order: 'big' | 'little'): this;
    uint32(name: string): this;
    seek(bytes: number): this;
    array(name: string, options: { type: string; length(this: unknown): number }): this;
    parse(buffer: Uint8Array): unknown;
  }
}
