/**
 * The headers described once more, declaratively, with binary-parser: the readable reference.
 *
 * binary-parser is a peer dependency of this entry point only; it generates code with `new Function`.
 *
 * What it is unfit for, and what is done instead: blocks laid out by a bitmap (a parser is put together for each),
 * sizes that earlier headers give (arguments), 48- and 128-bit addresses (raw bytes with a formatter), items that are
 * missing only if several fields are all ones (looked at afterwards), lists that must end exactly (compared
 * afterwards), and raw parts past the end of the input, which it returns short (found by the offset it reached). Bit
 * fields up to 32 bits in a row and 64-bit integers are said directly; no header here has bits in a row that cross a
 * 32-bit boundary.
 *
 * @packageDocumentation
 */

export type { SchemaOptions } from './decode.js';
export { decodeWithSchema } from './decode.js';
export type { GpintFields } from './gpint.js';
export type { MetadataFormat } from './metadata.js';
export type { GreFields } from './packet.js';
export type { HeaderSchema, Parsed } from './schema.js';
/** Each header's schema: `schemas.ipv4Schema.parse(bytes)`. */
export * as schemas from './schemas.js';
export type { SchemaLayer, SchemaValues } from './walk.js';
