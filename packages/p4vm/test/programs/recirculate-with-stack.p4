// Each round pushes an item and goes round again, until the stack is full.
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
        hdr.items.push_front(1);
        hdr.items[0].setValid();
        hdr.items[0].value = hdr.h.a;
        hdr.h.a = hdr.h.a + 1;
    }
}
EGRESS {
    apply {
        if (hdr.h.a < 3) recirculate_preserving_field_list(0);
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
