// IntMon: the INT header of the 2016 draft behind UDP, with a length, the original destination port, and a flag for the copy
// that goes to the controller. Values have 31 bits; the bit before them marks the last value of the stack.
#ifndef INT_HEADERS_INTMON_P4
#define INT_HEADERS_INTMON_P4

#ifndef INTMON_PORT
#define INTMON_PORT 54321
#endif

#define INTMON_HEADER_BYTES 12

// 'Not known', among values.
const bit<31> INTMON_NOT_AVAILABLE = 0x7fffffff;

header intmon_t {
    bit<2> version;
    bit<2> replication;
    bit<1> copy;
    bit<1> hops_exceeded;
    bit<1> to_controller;       // O
    bit<4> reserved;
    bit<5> instruction_count;
    bit<8> max_hops;
    bit<8> total_hops;
    bit<16> instructions;       // bit 0 is the most significant
    bit<16> reserved_2;
    bit<16> length;             // bytes, of this header and the stack
    bit<16> destination_port;   // the original one
}

header intmon_value_t {
    bit<1> bottom;
    bit<31> value;
}

#endif
