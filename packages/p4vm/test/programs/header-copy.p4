// A header assigned to another is copied with its validity.
#include "include/base.p4"

struct headers_t {
    pair_h h;
    pair_h copy;
}
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.h.a == 1) {
            hdr.copy = hdr.h;
            hdr.copy.b = 0xff;
        }
        if (hdr.h.a == 2) {
            pair_h other;
            hdr.h = other;
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
