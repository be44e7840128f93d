/** The state of a walk over a packet: its bytes, and the layers found so far. */
import type { CodeName } from '../codes.js';
import { CodecError } from '../errors.js';
import type { ReportMetadata } from '../headers/index.js';
import type { Hop, Layer } from '../model.js';
import type { HeaderSchema } from './schema.js';
import * as schemas from './schemas.js';

/** All schemas, to be looked up by the name of a layer. */
const SCHEMAS = schemas;
type Schemas = typeof schemas;
type ValueOf<Schema> = Schema extends HeaderSchema<infer T> ? T : never;

/** Layers that a schema of the same name describes. */
type HeaderLayer = {
  [K in keyof Schemas]: K extends `${infer Name}Schema` ? (ValueOf<Schemas[K]> extends never ? never : Name) : never;
}[keyof Schemas];

/** What each kind of layer holds: a header the values of its schema. */
export type SchemaValues = Omit<{ [K in HeaderLayer]: ValueOf<Schemas[`${K}Schema`]> }, 'geneve'> & {
  /** An IPv6 extension header, as its type and its next header. */
  ipv6Extension: { type: number; nextHeader: number };
  /** Without the options, which follow as layers of their own if they carry INT. */
  geneve: Omit<ValueOf<Schemas['geneveSchema']>, 'options'>;
  /** One hop's block. The first one is that of the last hop. */
  hop: Hop;
  /** Source-only bytes behind the last block, or source-inserted bytes of INT-MX. */
  sourceMetadata: Uint8Array;
  reportMetadata: ReportMetadata;
  /** Bytes behind the last header that was read. */
  payload: Uint8Array;
};

/** One header, or one block, in the order of the bytes. */
export type SchemaLayer = {
  [K in keyof SchemaValues]: {
    readonly layer: K;
    /** First byte, from the start of what was handed in. */
    readonly offset: number;
    readonly value: SchemaValues[K];
  };
}[keyof SchemaValues];

/** Bytes with an end, and the list of layers found. */
export class Walk {
  readonly bytes: Uint8Array;
  readonly layers: SchemaLayer[] = [];

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Notes a layer. */
  add<K extends keyof SchemaValues>(layer: K, offset: number, value: SchemaValues[K]): void {
    this.layers.push({ layer, offset, value } as SchemaLayer);
  }

  /**
   * Reads a header that must end at or before `end`, and notes it.
   *
   * @returns its values and the offset behind it
   */
  take<K extends HeaderLayer & keyof SchemaValues>(
    layer: K,
    offset: number,
    end: number,
  ): { value: SchemaValues[K]; next: number } {
    return this.takeBy(layer, SCHEMAS[`${layer}Schema`] as unknown as HeaderSchema<SchemaValues[K]>, offset, end);
  }

  /** As {@link take}, by a schema that does not have the name of the layer. */
  takeBy<K extends keyof SchemaValues, T extends SchemaValues[K]>(
    layer: K,
    description: HeaderSchema<T>,
    offset: number,
    end: number,
  ): { value: T; next: number } {
    const { value, byteLength } = description.parse(this.bytes.subarray(0, Math.min(end, this.bytes.length)), offset);
    this.add(layer, offset, value);
    return { value, next: offset + byteLength };
  }

  fail(code: CodeName, layer: Layer, offset: number, message: string): never {
    throw new CodecError(code, layer, offset, message);
  }
}
