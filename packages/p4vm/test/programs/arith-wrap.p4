// Sums and differences of bit<8> wrap round; of bit<4> at 16.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> b;
    bit<8> sum;
    bit<8> difference;
    bit<8> product;
    bit<4> s4;
    bit<4> d4;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.sum = hdr.h.a + hdr.h.b;
        hdr.h.difference = hdr.h.a - hdr.h.b;
        hdr.h.product = hdr.h.a * hdr.h.b;
        hdr.h.s4 = hdr.h.a[3:0] + hdr.h.b[3:0];
        hdr.h.d4 = hdr.h.a[3:0] - hdr.h.b[3:0];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
