// A loop over a range of numbers: both ends belong to it; an empty range does nothing.
// p4c does not compile loops with in for simple_switch.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> sum = 0;
        for (bit<8> i in 2 .. 5) {
            sum = sum + i;
        }
        for (bit<8> k in hdr.h.a .. hdr.h.b) {
            sum = sum + 0x20;
        }
        hdr.h.b = sum;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
