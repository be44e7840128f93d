// extract(_) takes the bits of a header and keeps none of them.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        packet.extract<pair_h>(_);
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
