// Shifts by a field: zeros come in, ones on the left of a negative number shifted right; all is gone beyond the width.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> n;
    bit<8> left;
    bit<8> right;
    int<8> arithmetic;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.left = hdr.h.a << hdr.h.n;
        hdr.h.right = hdr.h.a >> hdr.h.n;
        hdr.h.arithmetic = (int<8>) hdr.h.a >> hdr.h.n;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
