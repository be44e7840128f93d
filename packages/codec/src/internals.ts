/**
 * Values for the other packages of this repository. There is no promise: any release may change them.
 *
 * @packageDocumentation
 */
export { parseIpv4, parseIpv6, parseMac, scanIpv4, writeAddress } from './address.js';
export {
  checksumComplement,
  ipv4HeaderChecksum,
  tcpChecksum,
  udpChecksum,
  updateChecksum,
  updateUdpChecksum,
} from './checksum.js';
export { CODE_MESSAGES, CODE_STATUS } from './codes.js';
export { REPORT_BYTE_COLUMNS, REPORT_WORD_COLUMNS } from './columns.js';
export { dscpAt } from './dscp.js';
export { AcceleratorReport2, acceleratorAvailable } from './fast/accelerator.js';
export { canRunAccelerator, withSharedMemory } from './fast/modules.js';
export {
  bth,
  ETHER_TYPE,
  GPINT_PORT,
  gpintMeta,
  gpintProbeExtended,
  INNER_TYPE,
  IP_PROTOCOL,
  icrc,
  MAX_PROBE_BYTES,
  REPORT_TYPE,
  ROCE_PORT,
  reportMetadata,
  reportV20Individual,
  reportV20Main,
  writeIcrc,
} from './headers/index.js';
export { MarkScout, type PacketMarks } from './mark-scout.js';
export { LINK_TYPES, PROFILES } from './options.js';
export {
  advanceProbe,
  dlvSwitchId,
  MAX_PROBE_SWITCHES,
  nextHopOf,
  ProbeParts,
  probeBytes,
  probeRequestId,
  probeRequestType,
  readProbeParts,
} from './probe/index.js';
export { ETHERNET_BYTES, writeRecord } from './record-row.js';
export { fastIcrc, icrcDifference } from './roce/index.js';
export { OuterSource } from './scan/outer-source.js';
export {
  DEFAULT_GRE_PROTOCOL,
  DEFAULT_INT_DSCP,
  DEFAULT_INT_PORTS,
  DEFAULT_PROBE_PORTS,
} from './scan/settings.js';
export { REPORT_COLUMN, SignedColumns, signed } from './signed-columns.js';
