// A select without a case for the value: the packet goes on to ingress.
#include "include/base.p4"

struct headers_t {
    pair_h h;
    pair_h more;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.a) {
            1: rest;
            2: accept;
        }
    }
    state rest {
        packet.extract(hdr.more);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.more.isValid()) hdr.h.b = 0xaa;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
