// Stacks are equal when their elements are.
#include "include/base.p4"

header item_h { bit<8> value; }
struct headers_t {
    pair_h h;
    item_h[4] items;
}
NO_METADATA

PARSER {
    bit<8> left;
    state start {
        packet.extract(hdr.h);
        left = hdr.h.a & 7;
        transition check;
    }
    state check {
        transition select(left) {
            0: accept;
            default: more;
        }
    }
    state more {
        packet.extract(hdr.items.next);
        left = left - 1;
        transition check;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        item_h[4] held = hdr.items;
        bit<8> r = 0;
        if (held == hdr.items) r = r + 1;
        held[1].value = 2;
        if (held == hdr.items) r = r + 2;
        held[0].setInvalid();
        if (held != hdr.items) r = r + 4;
        hdr.h.b = r;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
