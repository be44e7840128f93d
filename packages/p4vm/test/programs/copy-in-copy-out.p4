// A field handed over twice as inout: the parameter written back last wins.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> b;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

void both(inout bit<8> x, inout bit<8> y) {
    x = x + 1;
    y = y + 16;
}

INGRESS {
    apply {
        SM.egress_spec = 1;
        both(hdr.h.a, hdr.h.a);
        hdr.h.b = hdr.h.a;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
