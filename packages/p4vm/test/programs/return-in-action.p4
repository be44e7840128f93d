// return ends an action; what called it goes on.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action mark(in bit<8> limit) {
        hdr.h.b = 1;
        if (hdr.h.a > limit) return;
        hdr.h.b = hdr.h.b + 1;
    }
    action twice() {
        mark(4);
        if (hdr.h.b == 1) return;
        hdr.h.a = 0xaa;
    }
    apply {
        SM.egress_spec = 1;
        twice();
        hdr.h.b = hdr.h.b + 0x10;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
