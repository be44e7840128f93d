// random gives numbers of its range; from a range of one number that number.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> r;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> r;
        random(r, hdr.h.a, hdr.h.a);
        hdr.h.r = r;
        random(r, 8w4, 8w7);
        if (r >= 4 && r <= 7) hdr.h.a = 0xff;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
