// Clones read ingress_port 0 in egress; their egress_port is the port of the session.
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
        hdr.h.a = (bit<8>) SM.ingress_port;
        hdr.h.b = (bit<8>) SM.egress_port;
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
