// A header extracted into a local is taken from the packet and not sent.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t { bit<8> sum; }

PARSER {
    pair_h passing;
    state start {
        packet.extract(hdr.h);
        packet.extract(passing);
        meta.sum = passing.a + passing.b;
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.b = meta.sum;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
