// A packet whose egress_spec nobody writes leaves by port 0.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        hdr.h.b = (bit<8>) SM.egress_spec;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
