/** Header codecs, one object each. */
export type { FixedHeaderCodec, HeaderCodec } from './codec.js';
export {
  GPINT_DSCP,
  GPINT_PORT,
  type GpintMeta,
  type GpintProbe,
  gpintMeta,
  gpintProbe,
  gpintProbeExtended,
  MAX_PROBE_BYTES,
} from './gpint.js';
export { type HopBlockOptions, type ReportMetadata, reportMetadata } from './hop.js';
export { type Int2016, type IntMd, type IntMon, type IntMx, type IntV05, type IntV10, intMd } from './int.js';
export {
  IP_PROTOCOL,
  type Ipv4,
  type Ipv6,
  type Ipv6Fragment,
  type Ipv6Options,
  type Ipv6Routing,
  ipv4,
  ipv6,
} from './ip.js';
export { ETHER_TYPE, type Ethernet, ethernet, type MplsLabel, type VlanTag } from './link.js';
export {
  INNER_TYPE,
  REPORT_TYPE,
  type ReportTlv,
  type ReportV05,
  type ReportV05Drop,
  type ReportV05Local,
  type ReportV10,
  type ReportV20Group,
  type ReportV20Individual,
  type ReportV20Main,
  reportV20Group,
  reportV20Individual,
  reportV20Main,
} from './report.js';
export {
  type Aeth,
  type AtomicEth,
  type Bth,
  bth,
  type ImmDt,
  icrc,
  type Reth,
  ROCE_OPCODE,
  ROCE_PORT,
  reth,
  writeIcrc,
} from './roce.js';
export {
  type GreShim,
  type IntTail,
  type ProbeMarker,
  probeMarker,
  type ShimV2,
  type ShimV2Marked,
  type ShimV2NewUdp,
  type ShimV2Port,
  type ShimV2Undefined,
  type ShimV05,
  type ShimV10,
  shimV2,
  type VxlanGpeShimV1,
  type VxlanGpeShimV2,
} from './shim.js';
export { type Tcp, type Udp, udp } from './transport.js';
export type { Geneve, GeneveOption, Gre, VxlanGpe } from './tunnels.js';
