// if statements in the states of a parser.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; pair_h l; }
struct metadata_t { bit<8> sum; }

PARSER {
    state start {
        packet.extract(hdr.h);
        if (hdr.h.a < 4) {
            meta.sum = 0x11;
        } else if (hdr.h.a > 8) {
            meta.sum = 0x20;
        }
        if (hdr.h.a >= 4) meta.sum = meta.sum + 2;
        packet.extract(hdr.k);
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
