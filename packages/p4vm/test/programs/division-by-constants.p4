// Division and remainder by powers of two.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> quotient;
    bit<8> rest;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.quotient = hdr.h.a / 8;
        hdr.h.rest = hdr.h.a % 8;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
