// mark_to_drop in ingress: the packet ends there, the next one is not touched by it.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
        if (hdr.h.a == 1) mark_to_drop(SM);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
