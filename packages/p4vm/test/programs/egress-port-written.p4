// egress_port written in egress changes what later reads give, not where the packet goes.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 6;
    }
}
EGRESS {
    apply {
        hdr.h.a = (bit<8>) SM.egress_port;
        SM.egress_port = 2;
        hdr.h.b = (bit<8>) SM.egress_port;
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
