// Of several clone calls in one pipeline the last one counts.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        clone(CloneType.I2E, 5);
        if (hdr.h.a == 1) clone(CloneType.I2E, 6);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
