// A header made of its own fields, swapped: it stays valid, the old values are used.
// simple_switch leaves it invalid.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h = { hdr.h.b, hdr.h.a };
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
