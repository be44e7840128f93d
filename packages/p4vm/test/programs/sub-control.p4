// A control within a control: parameters in and out, one instance with an argument of its own.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

control Add(in bit<8> x, out bit<8> y)(bit<8> amount) {
    apply { y = x + amount; }
}

INGRESS {
    Add(1) one;
    Add(0x10) sixteen;
    apply {
        SM.egress_spec = 1;
        one.apply(hdr.h.a, hdr.h.b);
        sixteen.apply(hdr.h.b, hdr.h.a);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
