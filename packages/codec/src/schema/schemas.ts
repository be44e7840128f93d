/** All schemas of headers by name. */
export { gpintMetaSchema, gpintProbeExtendedSchema, gpintProbeSchema } from './gpint.js';
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
export { hopSchema, reportMetadataSchema } from './metadata.js';
export {
  ethernetSchema,
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
