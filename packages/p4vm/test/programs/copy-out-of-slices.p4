// A slice may be an inout argument: only its bits are written back.
#include "include/base.p4"

void increment(inout bit<4> x) {
    x = x + 1;
}

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        increment(hdr.h.a[3:0]);
        increment(hdr.h.b[7:4]);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
