// Bits of an element found by a number of the packet.
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
        bit<8> i = hdr.h.b;
        hdr.items[i].value[3:0] = hdr.items[0].value[7:4];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
