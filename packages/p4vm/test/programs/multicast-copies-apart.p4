// What egress does to one copy of a multicast is not seen by the next.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.mcast_grp = 1;
    }
}
EGRESS {
    apply {
        hdr.h.a = hdr.h.a + 1;
        if (SM.egress_rid == 2) hdr.h.setInvalid();
        if (SM.egress_rid == 3) mark_to_drop(SM);
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
