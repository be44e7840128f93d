export { decodeRoce, type RoceDecodeOptions, type RoceErrorCode } from './decode.js';
export { encodeRoce } from './encode.js';
export { fastIcrc, icrcDifference } from './fast-icrc.js';
export type { RoceFields, RocePacket } from './packet.js';
