// A header extracted twice holds what came second; it is sent once.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.h);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = 1; }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
