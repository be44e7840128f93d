// A clone made in egress has the headers of the end of egress and goes through egress once more.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
    }
}
EGRESS {
    apply {
        if (SM.instance_type == 0) {
            clone(CloneType.E2E, 5);
            hdr.h.a = hdr.h.a + 1;
        } else {
            hdr.h.b = (bit<8>) SM.instance_type;
        }
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
