// A packet may be cloned and resubmitted; both are the packet as received.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
        if (SM.instance_type == 0) {
            clone(CloneType.I2E, 5);
            hdr.h.a = 0xff;
            resubmit_preserving_field_list(0);
        } else {
            hdr.h.b = (bit<8>) SM.instance_type;
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
