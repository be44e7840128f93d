// The packet is dropped in egress, its clone goes on; egress of the clone sees egress_spec 0 again.
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
            mark_to_drop(SM);
        } else {
            hdr.h.b = (bit<8>) SM.egress_spec;
        }
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
