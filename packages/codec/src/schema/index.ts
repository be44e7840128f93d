/**
 * A second, declarative description of the headers with binary-parser: the readable reference.
 *
 * binary-parser is a peer dependency of this entry point only; it generates code with `new Function`.
 *
 * It describes bit fields of up to 32 bits in a row and 64-bit integers directly; no header here has bits in a row that
 * cross a 32-bit boundary. It cannot describe the following:
 *
 * - blocks whose form a bitmap gives: a parser is built for each bitmap,
 * - sizes that earlier headers give: they are arguments,
 * - 48- and 128-bit addresses: they are raw bytes with a formatter,
 * - items that are missing only if several fields are all ones, and lists that must end exactly: both are checked
 *   later,
 * - raw parts beyond the end of the input, which it returns cut: the offset that it has reached shows them.
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
