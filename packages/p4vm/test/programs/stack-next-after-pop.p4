// After pop_front of everything the stack is empty; pushes beyond the size push out the last elements.
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
        if (hdr.h.b == 1) hdr.items.pop_front(4);
        if (hdr.h.b == 2) hdr.items.push_front(3);
        if (hdr.h.b == 3) { hdr.items.push_front(1); hdr.items.pop_front(2); }
        if (hdr.h.b == 4) { hdr.items.pop_front(2); hdr.items.push_front(2); }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
