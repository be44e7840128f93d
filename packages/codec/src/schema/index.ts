/**
 * The headers described once more, declaratively, with binary-parser: the readable reference.
 *
 * binary-parser is a peer dependency of this entry point only; it generates code with `new Function`.
 *
 * What it is unfit for, and what is done instead: blocks laid out by a bitmap (a parser is put together for each),
 * sizes that earlier headers give (arguments), 48- and 128-bit addresses (raw bytes with a formatter), items that are
 * missing only if several fields are all ones (looked at afterwards), lists that must end exactly (compared afterwards),
 * and raw parts past the end of the input, which it returns short (found by the offset it reached). Bit fields up to 32
 * bits in a row and 64-bit integers are said directly; no header here has bits in a row that cross a 32-bit boundary.
 *
 * @packageDocumentation
 */
export { decodeWithSchema, type SchemaOptions } from './decode.js';
export { type GpintFields, gpintMetaSchema, gpintProbeExtendedSchema, gpintProbeSchema } from './gpint.js';
export {
  greShimSchema,
  int2016Schema,
  intMdSchema,
  intMonSchema,
  intMxSchema,
  intTailSchema,
  intV05Schema,
  intV10Schema,
  probeMarkerSchema,
  shimV2Schema,
  shimV05Schema,
  shimV10Schema,
  vxlanGpeShimV1Schema,
  vxlanGpeShimV2Schema,
} from './int.js';
export { hopSchema, type MetadataFormat, reportMetadataSchema } from './metadata.js';
export {
  ethernetSchema,
  type GreFields,
  geneveSchema,
  greSchema,
  ipv4Schema,
  ipv6FragmentSchema,
  ipv6OptionsSchema,
  ipv6RoutingSchema,
  ipv6Schema,
  mplsLabelSchema,
  tcpSchema,
  udpSchema,
  vlanTagSchema,
  vxlanGpeSchema,
} from './packet.js';
export {
  reportTlvSchema,
  reportV05DropSchema,
  reportV05LocalSchema,
  reportV05Schema,
  reportV10Schema,
  reportV20GroupSchema,
  reportV20IndividualSchema,
  reportV20MainSchema,
} from './report.js';
export { aethSchema, atomicEthSchema, bthSchema, immDtSchema, rethSchema } from './roce.js';
export type { HeaderSchema, Parsed } from './schema.js';
export type { SchemaLayer, SchemaValues } from './walk.js';
