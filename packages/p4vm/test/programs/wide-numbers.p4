// Numbers of 64, 128 and 48 bits: carries go all the way.
#include "include/base.p4"

header x_h {
    bit<64> a;
    bit<128> b;
    bit<48> c;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.a = hdr.h.a + 1;
        hdr.h.b = hdr.h.b - 1;
        hdr.h.c = (hdr.h.c << 4) | 5;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
