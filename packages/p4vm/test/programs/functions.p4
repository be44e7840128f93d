// Functions with results, early return, and inout parameters.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> b;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

bit<8> larger(in bit<8> x, in bit<8> y) {
    if (x > y) return x;
    return y;
}
void swap(inout bit<8> x, inout bit<8> y) {
    bit<8> t = x;
    x = y;
    y = t;
}

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.a = larger(hdr.h.a, hdr.h.b);
        swap(hdr.h.a, hdr.h.b);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
