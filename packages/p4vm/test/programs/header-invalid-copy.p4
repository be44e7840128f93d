// An invalid header assigned to a valid one makes it invalid; a swap by a local swaps validity too.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        pair_h held = hdr.h;
        hdr.h = hdr.k;
        hdr.k = held;
        if (hdr.h.isValid()) SM.egress_spec = 2;
        if (hdr.k.isValid()) hdr.k.b = 0xee;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
