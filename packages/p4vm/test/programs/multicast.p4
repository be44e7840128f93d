// A group of three nodes: a copy for each port, each with the replication id of its node; no copy for egress_spec.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        SM.mcast_grp = (bit<16>) hdr.h.a;
    }
}
EGRESS {
    apply {
        hdr.h.a = (bit<8>) SM.egress_port;
        hdr.h.b = (bit<8>) SM.egress_rid;
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
