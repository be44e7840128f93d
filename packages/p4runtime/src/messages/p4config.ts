/** The messages of `p4/config/v1/p4info.proto` and `p4/config/v1/p4types.proto`. */
export * from '../generated/p4/config/v1/p4info_pb.js';
export * from '../generated/p4/config/v1/p4types_pb.js';
