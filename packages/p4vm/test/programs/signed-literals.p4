// Constants of signed types: the smallest, casts of numbers without a type, shifts of negative ones.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    const int<8> LOW = -128;
    const int<16> HALF = (int<16>) (-1000 >> 3);
    apply {
        SM.egress_spec = 1;
        int<8> x = (int<8>) hdr.h.a;
        bit<8> r = 0;
        if (x == LOW) r = r + 1;
        if (x > -5) r = r + 2;
        if ((int<16>) x < HALF) r = r + 4;
        hdr.h.b = r + (bit<8>) (x >> 1);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
