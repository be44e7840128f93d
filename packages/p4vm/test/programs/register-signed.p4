// A register of signed numbers keeps their sign.
// simple_switch reads a negative number as a positive one.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    register<int<16>>(1) lowest;
    apply {
        SM.egress_spec = 1;
        int<16> x = (int<16>) (int<8>) hdr.h.a;
        int<16> low;
        lowest.read(low, 0);
        if (x < low) lowest.write(0, x);
        hdr.h.b = (bit<8>) (bit<16>) (low >> 1);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
