// Variables of a control begin anew for every packet, and each time it is applied.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

control Once(inout bit<8> x) {
    const bit<8> STEP = 4;
    bit<8> n = 1;
    apply {
        n = n + STEP;
        x = x + n;
    }
}

INGRESS {
    Once() once;
    apply {
        SM.egress_spec = 1;
        once.apply(hdr.h.a);
        once.apply(hdr.h.b);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
