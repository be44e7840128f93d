// exit two controls deep ends all of them; what was written before stays.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

control Inner(inout bit<8> x) {
    apply {
        x = x + 1;
        if (x == 3) exit;
        x = x + 0x10;
    }
}
control Outer(inout bit<8> x) {
    Inner() inner;
    apply {
        inner.apply(x);
        x = x + 0x20;
    }
}

INGRESS {
    Outer() outer;
    apply {
        SM.egress_spec = 1;
        outer.apply(hdr.h.a);
        hdr.h.b = 0xff;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
