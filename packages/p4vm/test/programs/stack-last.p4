// last in a parser is the element extracted last: its mark ends the loop, its value is kept.
#include "include/base.p4"

header item_h { bit<8> value; }
struct headers_t {
    pair_h h;
    item_h[4] items;
}
struct metadata_t { bit<8> sum; }

PARSER {
    state start {
        packet.extract(hdr.h);
        transition more;
    }
    state more {
        packet.extract(hdr.items.next);
        meta.sum = meta.sum + hdr.items.last.value;
        transition select(hdr.items.last.value[7:7]) {
            1: accept;
            0: more;
        }
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.b = hdr.h.a;
        hdr.h.a = meta.sum;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
