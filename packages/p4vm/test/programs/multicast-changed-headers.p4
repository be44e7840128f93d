// Each copy of a multicast writes its own port and replication id into a header of its own.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply { SM.mcast_grp = 1; }
}
EGRESS {
    apply {
        hdr.h.a = SM.egress_port[7:0];
        hdr.h.b = SM.egress_rid[7:0];
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
