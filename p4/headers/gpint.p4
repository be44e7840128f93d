// GPINT probes, the request meta and the three stacks, in the plain layout and in the extended one with 16-bit ids.
#ifndef INT_HEADERS_GPINT_P4
#define INT_HEADERS_GPINT_P4

// The UDP destination port determines the layout, the DSCP the kind.
#ifndef GPINT_PORT_PLAIN
#define GPINT_PORT_PLAIN 5017
#endif
#ifndef GPINT_PORT_EXTENDED
#define GPINT_PORT_EXTENDED 5018
#endif

const bit<6> GPINT_DSCP_PROBE = 0x17;
const bit<6> GPINT_DSCP_FEEDBACK = 0x19;
const bit<6> GPINT_DSCP_RECOVERY = 0x21;

// Largest probe in bytes, from the request meta on.
#define GPINT_MOST_BYTES 2200
#define GPINT_MOST_BITS 17600
const bit<16> GPINT_MOST_SWITCHES = 255;

// Kinds of measurements that a probe requests.
const bit<1> GPINT_RULE_HITS = 0;
const bit<1> GPINT_PORT_PACKETS = 1;

header gpint_request_t {
    bit<15> id;
    bit<1> type;
}

// Number of the following entries, DLV headers or measurements.
header gpint_count_t {
    bit<16> count;
}

// An entry of the SR stack: the egress port, and the requested measurements.
header gpint_route_plain_t {
    bit<8> port;
    bit<8> first;
    bit<8> count;
}

header gpint_route_extended_t {
    bit<16> port;
    bit<8> first;
    bit<8> count;
}

// A DLV header.
header gpint_visit_plain_t {
    bit<8> switch_id;
    bit<8> queue_depth;
    bit<16> count;
}

header gpint_visit_extended_t {
    bit<16> switch_id;
    bit<16> queue_depth;
    bit<16> count;
}

header gpint_measurement_t {
    bit<32> value;
}

// Part of a probe that is passed on unchanged.
header gpint_bytes_t {
    varbit<GPINT_MOST_BITS> bytes;
}

#endif
