// Empty statements, blocks, annotated ones, conditions known at compile time.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    const bool DEBUG = false;
    apply {
        ;
        SM.egress_spec = 1;
        if (DEBUG) { hdr.h.a = 0xff; } else ;
        @atomic {
            hdr.h.b = hdr.h.b + 1;
            { { } ; }
        }
        if (!DEBUG && 1 < 2) hdr.h.a = 0x11;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
