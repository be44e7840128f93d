// A control applied by its type, without an instance of a name.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

control Double(inout bit<8> x) {
    apply { x = x + x; }
}

INGRESS {
    apply {
        SM.egress_spec = 1;
        Double.apply(hdr.h.a);
        Double.apply(hdr.h.b);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
