// Constructor parameters of a control: each instance has its own.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

control Add(inout bit<8> x)(bit<8> by) {
    apply { x = x + by; }
}

INGRESS {
    Add(1) one;
    Add(16) sixteen;
    apply {
        SM.egress_spec = 1;
        one.apply(hdr.h.a);
        sixteen.apply(hdr.h.b);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
