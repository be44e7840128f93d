// return within a loop ends the control, exit the pipeline.
// p4c does not compile loops with in for simple_switch.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

// The smallest number whose square is at least x.
control Find(in bit<8> x, inout bit<8> at) {
    apply {
        if (x > 225) exit;
        for (bit<8> i in 1 .. 15) {
            if (i * i >= x) {
                at = i;
                return;
            }
        }
    }
}

INGRESS {
    Find() find;
    apply {
        SM.egress_spec = 1;
        bit<8> at = 0;
        find.apply(hdr.h.a, at);
        hdr.h.b = at;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
