// A loop over states with a counter of its own.
#include "include/base.p4"

header item_h { bit<8> value; }
struct headers_t {
    pair_h h;
    item_h[8] items;
}
NO_METADATA

PARSER {
    bit<8> left;
    state start {
        packet.extract(hdr.h);
        left = hdr.h.a;
        transition loop;
    }
    state loop {
        transition select(left) {
            0: accept;
            default: item;
        }
    }
    state item {
        left = left - 1;
        packet.extract(hdr.items.next);
        transition loop;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.items[2].setInvalid();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
