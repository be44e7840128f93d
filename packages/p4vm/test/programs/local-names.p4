// A name declared in a block hides the one outside it, until the block ends.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    bit<8> x;
    apply {
        SM.egress_spec = 1;
        x = 1;
        {
            bit<8> x = 2;
            hdr.h.a = x;
        }
        hdr.h.b = x;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
