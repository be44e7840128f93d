// mark_to_drop takes back mcast_grp; port 511 alone does not stop a multicast; mcast_grp written after the drop counts.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.mcast_grp = 1;
        if (hdr.h.a == 1) mark_to_drop(SM);
        if (hdr.h.a == 2) SM.egress_spec = 511;
        if (hdr.h.a == 3) {
            mark_to_drop(SM);
            SM.mcast_grp = 1;
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
