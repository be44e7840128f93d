// A mirror session of a multicast group: a clone for each port, with its replication id.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        clone(CloneType.I2E, 5);
    }
}
EGRESS {
    apply {
        hdr.h.a = (bit<8>) SM.instance_type;
        hdr.h.b = (bit<8>) SM.egress_rid;
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
