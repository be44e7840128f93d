// Slices of sums, of concatenations and of shifted numbers.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> a = hdr.h.a;
        bit<8> b = hdr.h.b;
        hdr.h.a = (a ++ b)[11:4];
        hdr.h.b = (a + b)[7:4] ++ (a << 1)[4:1];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
