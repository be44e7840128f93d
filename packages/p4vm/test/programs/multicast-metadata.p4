// Metadata that ingress writes is there for every copy in egress.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t {
    bit<8> note;
}

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        meta.note = hdr.h.a + hdr.h.b;
        SM.mcast_grp = 1;
    }
}
EGRESS {
    apply {
        hdr.h.b = meta.note;
        meta.note = 0xee;
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
