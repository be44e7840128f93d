// A stack is filled element by element until the one with its mark.
#include "include/base.p4"

header item_h {
    bit<1> last;
    bit<7> value;
}
struct headers_t {
    item_h[4] items;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.items.next);
        transition select(hdr.items.last.last) {
            0: start;
            1: accept;
        }
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.items[1].isValid()) hdr.items[1].value = 0x7f;
        if (hdr.items[3].isValid()) hdr.items[0].setInvalid();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
