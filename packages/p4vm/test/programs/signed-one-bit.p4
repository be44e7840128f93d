// int<1> holds 0 and -1.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        int<1> x = (int<1>) hdr.h.a[0:0];
        int<8> wide = (int<8>) x;
        hdr.h.b = (bit<8>) wide;
        if (x < 0) hdr.h.a = 0xee;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
