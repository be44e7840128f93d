// Elements of a stack by a constant index, their validity and their fields.
#include "include/base.p4"

header item_h { bit<8> value; }
struct headers_t { item_h[3] items; }
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> t = hdr.items[0].value;
        hdr.items[0].value = hdr.items[2].value;
        hdr.items[2].value = t;
        if (hdr.items[1].value == 0) hdr.items[1].setInvalid();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
