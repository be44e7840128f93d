// A packet goes round until its counter is 0; each round is an ingress and an egress.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
        hdr.h.b = hdr.h.b + 1;
    }
}
EGRESS {
    apply {
        hdr.h.b = hdr.h.b + 0x10;
        if (hdr.h.a != 0) {
            hdr.h.a = hdr.h.a - 1;
            recirculate_preserving_field_list(0);
        }
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
