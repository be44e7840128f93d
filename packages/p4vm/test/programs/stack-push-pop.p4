// push_front and pop_front shift a stack; what comes in at the front is invalid.
#include "include/base.p4"

header item_h { bit<8> value; }
struct headers_t {
    pair_h h;
    item_h[3] items;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.h.a == 1) {
            hdr.items.push_front(1);
            hdr.items[0].setValid();
            hdr.items[0].value = 0xaa;
        }
        if (hdr.h.a == 2) hdr.items.push_front(2);
        if (hdr.h.a == 3) hdr.items.pop_front(1);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
