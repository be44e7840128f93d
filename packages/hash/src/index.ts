export { type Crc, crc32, createCrc } from './crc.js';
export {
  CRC_8,
  CRC_16_ARC,
  CRC_16_CCITT,
  CRC_16_CCITT_FALSE,
  CRC_16_X25,
  CRC_32,
  CRC_32_AUTOSAR,
  CRC_32_BZIP2,
  CRC_32C,
  CRC_32D,
  CRC_32K,
  CRC_32Q,
  type CrcParameters,
} from './crc-presets.js';
export type { FlowColumns } from './flow-columns.js';
export {
  encodeFlowKey,
  FLOW_KEY_BYTES_IPV4,
  FLOW_KEY_BYTES_IPV6,
  type Flow,
  flowCrc32Columns,
  flowCrc32Ipv4,
  flowCrc32Ipv6,
  writeFlowKeyIpv4,
  writeFlowKeyIpv6,
} from './flow-key.js';
export { createVariableLengthHasher, type VariableLengthHasher } from './variable-length.js';
export { flowXxh32Columns, flowXxh32Ipv6, xxh32, xxh32Words13, xxh32Words13 as flowXxh32Ipv4 } from './xxh32.js';
export { xxh64, xxh64Into } from './xxh64.js';
export { xxh64Words13Into, xxh64Words37Into } from './xxh64-words.js';
