// A packet leaves by the port that ingress writes to egress_spec.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = (bit<9>) hdr.h.a;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
