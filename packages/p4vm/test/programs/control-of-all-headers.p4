// A control that is handed all headers and pushes and sets among them.
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

control Push(inout headers_t all, in bit<8> value) {
    apply {
        all.items.push_front(1);
        all.items[0].setValid();
        all.items[0].value = value;
        all.h.b = all.h.b + 1;
    }
}

INGRESS {
    Push() push;
    apply {
        SM.egress_spec = 1;
        push.apply(hdr, 0xaa);
        if (hdr.h.a == 2) hdr.items[1].value = hdr.items[0].value + 1;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
