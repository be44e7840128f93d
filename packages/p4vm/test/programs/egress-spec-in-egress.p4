// egress_spec reads 0 when egress begins, egress_port the port; writing 511 there drops.
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
        hdr.h.b = (bit<8>) SM.egress_spec;
        if (hdr.h.a == 1) hdr.h.a = (bit<8>) SM.egress_port;
        else if (hdr.h.a == 2) SM.egress_spec = 511;
        else SM.egress_spec = 3;
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
