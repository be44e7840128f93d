/** The messages and the service of `p4/v1/p4runtime.proto` and `p4/v1/p4data.proto`. */
export * from '../generated/p4/v1/p4data_pb.js';
export * from '../generated/p4/v1/p4runtime_pb.js';
