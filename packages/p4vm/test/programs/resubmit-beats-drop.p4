// A packet that is resubmitted is neither dropped nor multicast.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        if (SM.instance_type == 0) {
            if (hdr.h.a == 1) mark_to_drop(SM);
            if (hdr.h.a == 2) SM.mcast_grp = 1;
            resubmit_preserving_field_list(0);
        } else {
            SM.egress_spec = 3;
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
