export { decodeRoce, ROCE_ERROR_CODES, type RoceDecodeOptions, type RoceErrorCode } from './decode.js';
export { encodeRoce, roceLength } from './encode.js';
export { fastIcrc, icrcDifference } from './fast-icrc.js';
export { ROCE_PART, rocePartsLength, rocePartsOf } from './opcodes.js';
export type { RoceFields, RocePacket } from './packet.js';
