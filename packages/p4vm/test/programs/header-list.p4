// A header made from a list is valid; in order, or by names.
#include "include/base.p4"

struct headers_t {
    pair_h h;
    pair_h one;
    pair_h two;
}
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.one = { 0x11, hdr.h.a };
        hdr.two = { b = 0x22, a = hdr.h.b };
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
