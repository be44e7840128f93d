import type { SourceFile } from '../source/position.js';

/**
 * The v1model architecture as BMv2's simple_switch implements it. `V1MODEL_VERSION` selects, as everywhere, between
 * indices of type `bit<32>` (before 20200408, the default) and indices of any type.
 */
export const v1modelFile: SourceFile = {
  name: 'v1model.p4',
  text: `// The v1model architecture: one ingress and one egress pipeline with a traffic manager in between.
#ifndef _V1_MODEL_P4_
#define _V1_MODEL_P4_

#include <core.p4>

#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif

const bit<32> __v1model_version = V1MODEL_VERSION;

match_kind {
  range,
  optional,
  selector
}

#if V1MODEL_VERSION >= 20200408
typedef bit<9> PortId_t;
#define _V1_PORT PortId_t
#else
#define _V1_PORT bit<9>
#endif

@metadata
@name("standard_metadata")
struct standard_metadata_t {
  _V1_PORT ingress_port;
  _V1_PORT egress_spec;
  _V1_PORT egress_port;
  bit<32>  instance_type;
  bit<32>  packet_length;
  @alias("queueing_metadata.enq_timestamp")
  bit<32>  enq_timestamp;
  @alias("queueing_metadata.enq_qdepth")
  bit<19>  enq_qdepth;
  @alias("queueing_metadata.deq_timedelta")
  bit<32>  deq_timedelta;
  @alias("queueing_metadata.deq_qdepth")
  bit<19>  deq_qdepth;
  @alias("intrinsic_metadata.ingress_global_timestamp")
  bit<48>  ingress_global_timestamp;
  @alias("intrinsic_metadata.egress_global_timestamp")
  bit<48>  egress_global_timestamp;
  @alias("intrinsic_metadata.mcast_grp")
  bit<16>  mcast_grp;
  @alias("intrinsic_metadata.egress_rid")
  bit<16>  egress_rid;
  /// 1 if verify_checksum found one that is wrong.
  bit<1>   checksum_error;
  /// What stopped the parser, or NoError.
  error    parser_error;
  @alias("intrinsic_metadata.priority")
  bit<3>   priority;
}

#undef _V1_PORT

enum CounterType { packets, bytes, packets_and_bytes }
enum MeterType { packets, bytes }
enum CloneType { I2E, E2E }
enum HashAlgorithm { crc32, crc32_custom, crc16, crc16_custom, random, identity, csum16, xor16 }

#define V1MODEL_METER_COLOR_GREEN  0
#define V1MODEL_METER_COLOR_YELLOW 1
#define V1MODEL_METER_COLOR_RED    2

// State addressed by an index.

#if V1MODEL_VERSION >= 20200408

extern counter<I> {
  counter(bit<32> size, CounterType type);
  void count(in I index);
}

extern meter<I> {
  meter(bit<32> size, MeterType type);
  void execute_meter<T>(in I index, out T result);
}

extern register<T, I> {
  register(bit<32> size);
  @noSideEffects
  void read(out T result, in I index);
  void write(in I index, in T value);
}

#else

extern counter {
  counter(bit<32> size, CounterType type);
  void count(in bit<32> index);
}

extern meter {
  meter(bit<32> size, MeterType type);
  void execute_meter<T>(in bit<32> index, out T result);
}

extern register<T> {
  register(bit<32> size);
  @noSideEffects
  void read(out T result, in bit<32> index);
  void write(in bit<32> index, in T value);
}

#endif

// State that belongs to the entries of a table.

extern direct_counter {
  direct_counter(CounterType type);
  void count();
}

extern direct_meter<T> {
  direct_meter(MeterType type);
  void read(out T result);
}

// Actions shared by entries, and groups of them.

extern action_profile {
  action_profile(bit<32> size);
}

extern action_selector {
  action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth);
}

// Numbers, hashes and checksums.

extern void random<T>(out T result, in T lo, in T hi);

@pure
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);

@deprecated("verify_checksum and update_checksum do this now")
extern Checksum16 {
  Checksum16();
  bit<16> get<D>(in D data);
}

extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);

@pure
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);

@noSideEffects
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

// What becomes of the packet.

@deprecated("mark_to_drop(standard_metadata) does this now")
extern void mark_to_drop();
@pure
extern void mark_to_drop(inout standard_metadata_t standard_metadata);

extern void digest<T>(in bit<32> receiver, in T data);
extern void truncate(in bit<32> length);

extern void clone(in CloneType type, in bit<32> session);
@deprecated("clone_preserving_field_list does this now")
extern void clone3<T>(in CloneType type, in bit<32> session, in T data);
extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);

@deprecated("resubmit_preserving_field_list does this now")
extern void resubmit<T>(in T data);
extern void resubmit_preserving_field_list(bit<8> index);

@deprecated("recirculate_preserving_field_list does this now")
extern void recirculate<T>(in T data);
extern void recirculate_preserving_field_list(bit<8> index);

// For those who write programs.

extern void assert(in bool check);
extern void assume(in bool check);
extern void log_msg(string msg);
extern void log_msg<T>(string msg, in T data);

// The parts of the switch.

parser Parser<H, M>(packet_in b, out H parsedHdr, inout M meta, inout standard_metadata_t standard_metadata);

control VerifyChecksum<H, M>(inout H hdr, inout M meta);

@pipeline
control Ingress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

@pipeline
control Egress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

control ComputeChecksum<H, M>(inout H hdr, inout M meta);

@deparser
control Deparser<H>(packet_out b, in H hdr);

package V1Switch<H, M>(
  Parser<H, M> p,
  VerifyChecksum<H, M> vr,
  Ingress<H, M> ig,
  Egress<H, M> eg,
  ComputeChecksum<H, M> ck,
  Deparser<H> dep
);

#endif
`,
};
