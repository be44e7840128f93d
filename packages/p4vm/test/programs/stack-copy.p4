// A stack assigned to another is copied element by element, with validity.
#include "include/base.p4"

header item_h { bit<8> value; }
struct headers_t {
    pair_h h;
    item_h[4] items;
    item_h[4] others;
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
        hdr.items[0].setInvalid();
        hdr.items[1].value = 0xee;
        hdr.others = held;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
