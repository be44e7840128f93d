// Metadata that a packet does not write is 0, also when the packet before it wrote it.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t {
    bit<8> x;
    bool seen;
}

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
        if (hdr.h.a == 1) {
            meta.x = 0x55;
            meta.seen = true;
        }
        hdr.h.b = meta.seen ? meta.x : (meta.x | 0x80);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
