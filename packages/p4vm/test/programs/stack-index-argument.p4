// The index of an inout argument is evaluated once, before the call.
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
    action move(inout bit<8> x, inout bit<8> i) {
        x = x + 0x10;
        i = i + 1;
    }
    apply {
        SM.egress_spec = 1;
        bit<8> i = 0;
        move(hdr.items[i].value, i);
        move(hdr.items[i].value, i);
        hdr.h.b = i;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
