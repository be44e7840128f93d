// A table that only one branch of a sub-control applies.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

control Inner(in bit<8> x, out bit<8> y) {
    action set(bit<8> value) { y = value; }
    table t {
        key = { x: exact @name("where"); }
        actions = { set; }
        default_action = set(0xaa);
    }
    apply {
        y = 0xff;
        if (x < 0x80) t.apply();
    }
}

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    Inner() inner;
    apply {
        to(1);
        inner.apply(hdr.h.a, hdr.h.b);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
