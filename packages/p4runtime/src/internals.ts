/** What the repository's other packages and tests need of this one. It makes no promise to others. */

export { entry } from './entities/entity.js';
export { EntityCodec } from './entities/entity-codec.js';
export { contentOf, isFixed, keyOf } from './entities/identity.js';
export { StatusSchema } from './generated/google/rpc/status_pb.js';
export { P4InfoIndex, type P4InfoKind, type P4InfoObjects } from './p4info/p4info-index.js';
export { programTypes } from './p4info/write-types.js';
export { type DeviceProgram, readDeviceProgram, writeDeviceProgram } from './p4vm/device-program.js';
export { LocalProgram, LocalSwitch, type RefusedUpdate } from './p4vm/local-switch.js';
export { RawWriteRequestSchema } from './server/raw-messages.js';
export { numberOfBytes, shortestBytes } from './values/bytes.js';
