// In-band Network Telemetry, version 2.1: shim for TCP and UDP (section 5.7), INT-MD and INT-MX headers, and the
// metadata of one hop. Each item is a header, because the instruction bitmap tells which items are present.
#ifndef INT_HEADERS_INT_P4
#define INT_HEADERS_INT_P4

// Marks of INT packets. They have no standard values: the domain chooses both.
#ifndef INT_UDP_PORT
#define INT_UDP_PORT 5000
#endif
#ifndef INT_DSCP
#define INT_DSCP 0x17
#endif

const bit<4> INT_TYPE_MD = 1;
const bit<4> INT_TYPE_MX = 3;

// Data after the stack: the payload (INT marked by DSCP), the payload (INT in place of the UDP destination port), or
// the original transport header (INT after a UDP header of the source).
const bit<2> INT_NPT_DSCP = 0;
const bit<2> INT_NPT_PORT = 1;
const bit<2> INT_NPT_NEW_UDP = 2;

const bit<4> INT_VERSION = 2;

// Words of the INT-MD and INT-MX headers, which the shim's length includes.
const bit<8> INT_HEADER_WORDS = 3;

header int_shim_t {
    bit<4> type;
    bit<2> npt;
    bit<2> reserved;
    bit<8> length;      // words behind the shim
    bit<16> original;   // NPT 0: bits 7 to 2 the DSCP; 1: the UDP destination port; 2: bits 7 to 0 the IP protocol
}

header int_md_t {
    bit<4> version;
    bit<1> discard;
    bit<1> hops_exceeded;
    bit<1> mtu_exceeded;
    bit<12> reserved;
    bit<5> hop_ml;
    bit<8> remaining_hops;
    bit<16> instructions;
    bit<16> domain_id;
    bit<16> domain_instructions;
    bit<16> domain_flags;
}

header int_mx_t {
    bit<4> version;
    bit<1> discard;
    bit<27> reserved;
    bit<16> instructions;
    bit<16> domain_id;
    bit<16> domain_instructions;
    bit<16> domain_flags;
}

// One's complement sums of valid headers (sums.p4). No list for hash() mixes fields of headers that may be invalid: the
// list has a fixed width, and fields of invalid headers count too.
#define SHIM_SUM(h) ((bit<32>)(h.type ++ h.npt ++ h.reserved ++ h.length) + (bit<32>)h.original)
#define MD_SUM(h) (words_32(h.version ++ h.discard ++ h.hops_exceeded ++ h.mtu_exceeded ++ h.reserved ++ h.hop_ml \
    ++ h.remaining_hops) + (bit<32>)h.instructions + (bit<32>)h.domain_id + (bit<32>)h.domain_instructions \
    + (bit<32>)h.domain_flags)
#define MX_SUM(h) (words_32(h.version ++ h.discard ++ h.reserved) + (bit<32>)h.instructions + (bit<32>)h.domain_id \
    + (bit<32>)h.domain_instructions + (bit<32>)h.domain_flags)

// A word of the stack, of any item.
header int_word_t {
    bit<32> value;
}

// The values of a metric, in path order, INT source first: up to eight hops of the stack, then this switch. `has`: the
// hop carries the metric, with a value other than 'not available'. Never emitted.
header int_metric_t {
    bit<1> has_0;
    bit<1> has_1;
    bit<1> has_2;
    bit<1> has_3;
    bit<1> has_4;
    bit<1> has_5;
    bit<1> has_6;
    bit<1> has_7;
    bit<1> has_8;
    bit<1> any;
    bit<6> padding;
    bit<32> sum;        // saturating
    bit<32> largest;
    bit<32> smallest;
    bit<32> last;       // of the hop nearest the sink
    bit<32> delta;      // from the flow's previous sum
    bit<32> value_0;
    bit<32> value_1;
    bit<32> value_2;
    bit<32> value_3;
    bit<32> value_4;
    bit<32> value_5;
    bit<32> value_6;
    bit<32> value_7;
    bit<32> value_8;
}

// A stack that is too long for the word headers.
header int_stack_t {
    varbit<8160> words;
}

// Items, with the bit of the bitmap that requests them. Bit 0 is the most significant one.
header int_node_id_t { bit<32> id; }                                    // 0
header int_interfaces_t { bit<16> ingress; bit<16> egress; }            // 1
header int_hop_latency_t { bit<32> latency; }                           // 2
header int_queue_t { bit<8> id; bit<24> occupancy; }                    // 3
header int_ingress_time_t { bit<64> time; }                             // 4
header int_egress_time_t { bit<64> time; }                              // 5
header int_level2_interfaces_t { bit<32> ingress; bit<32> egress; }     // 6
header int_utilization_t { bit<32> utilization; }                       // 7
header int_buffer_t { bit<8> id; bit<24> occupancy; }                   // 8
header int_complement_t { bit<32> value; }                              // 15

// Words of all ones, for requested items that this switch does not know. Any number of words up to 31 is a sum of
// these.
header int_ones_1_t { bit<32> words; }
header int_ones_2_t { bit<64> words; }
header int_ones_4_t { bit<128> words; }
header int_ones_8_t { bit<256> words; }
header int_ones_16_t { bit<512> words; }

// The block of one hop, each header's name with a prefix: structs of headers do not nest in v1model.
#define INT_BLOCK(prefix) \
    int_node_id_t prefix##_node_id; \
    int_interfaces_t prefix##_interfaces; \
    int_hop_latency_t prefix##_hop_latency; \
    int_queue_t prefix##_queue; \
    int_ingress_time_t prefix##_ingress_time; \
    int_egress_time_t prefix##_egress_time; \
    int_level2_interfaces_t prefix##_level2_interfaces; \
    int_utilization_t prefix##_utilization; \
    int_buffer_t prefix##_buffer; \
    int_ones_1_t prefix##_ones_1; \
    int_ones_2_t prefix##_ones_2; \
    int_ones_4_t prefix##_ones_4; \
    int_ones_8_t prefix##_ones_8; \
    int_ones_16_t prefix##_ones_16; \
    int_complement_t prefix##_complement

// The ports of a transport header whose rest does not matter.
header ports_t {
    bit<16> source;
    bit<16> destination;
}

#endif
