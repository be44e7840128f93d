// Arguments are copied out of a control that ends by exit, as out of one that ends by return.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

control Inner(inout bit<8> x, out bit<8> y) {
    apply {
        y = 0x11;
        if (x == 1) { x = 2; exit; }
        y = 0x22;
        if (x == 2) { x = 3; return; }
        y = 0x33;
    }
}

INGRESS {
    Inner() inner;
    apply {
        SM.egress_spec = 1;
        inner.apply(hdr.h.a, hdr.h.b);
        hdr.h.a = 0xee;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
