// A header taken away leaves the payload as it was; an empty payload is fine.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
        hdr.h.setInvalid();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
