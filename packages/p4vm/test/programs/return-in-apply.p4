// return ends the control it stands in, not the ones around it.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

control Sub(inout bit<8> x) {
    apply {
        if (x == 1) return;
        x = 0xee;
    }
}

INGRESS {
    Sub() sub;
    apply {
        SM.egress_spec = 1;
        sub.apply(hdr.h.a);
        if (hdr.h.b == 1) return;
        hdr.h.b = 0xdd;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
