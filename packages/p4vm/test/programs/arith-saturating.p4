// |+| and |-| stop at the largest and smallest value, signed ones too.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> b;
    bit<8> up;
    bit<8> down;
    int<8> sup;
    int<8> sdown;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.up = hdr.h.a |+| hdr.h.b;
        hdr.h.down = hdr.h.a |-| hdr.h.b;
        hdr.h.sup = (int<8>) hdr.h.a |+| (int<8>) hdr.h.b;
        hdr.h.sdown = (int<8>) hdr.h.a |-| (int<8>) hdr.h.b;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
