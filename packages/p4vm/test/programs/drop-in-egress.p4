// mark_to_drop in egress drops only the packet, not what ingress decided for others.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
    }
}
EGRESS {
    apply {
        if (hdr.h.a == 1) mark_to_drop(SM);
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
