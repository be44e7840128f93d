// Headers are equal when both are invalid, or both valid with the same fields.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; }
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        transition select(SM.packet_length) {
            2: accept;
            default: second;
        }
    }
    state second {
        packet.extract(hdr.k);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        pair_h none;
        none.setInvalid();
        bit<8> r = 0;
        if (hdr.h == hdr.k) r = r + 1;
        if (hdr.k != hdr.h) r = r + 2;
        if (hdr.k == none) r = r + 4;
        if (none == hdr.h) r = r + 8;
        hdr.h = { r, 0 };
        hdr.k.setInvalid();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
