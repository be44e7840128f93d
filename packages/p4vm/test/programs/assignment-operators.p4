// x += y and its like.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> b;
    bit<8> c;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.a += 5;
        hdr.h.b -= hdr.h.a;
        hdr.h.c <<= 2;
        hdr.h.c |= 1;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
