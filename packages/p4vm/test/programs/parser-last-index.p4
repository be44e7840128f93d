// lastIndex of a stack is the position of the element extracted last.
// simple_switch does not load a select on lastIndex.
#include "include/base.p4"

header item_h {
    bit<8> value;
}
struct headers_t {
    pair_h h;
    item_h[3] items;
}
struct metadata_t {
    bit<8> index;
}

PARSER {
    state start {
        packet.extract(hdr.h);
        transition item;
    }
    state item {
        packet.extract(hdr.items.next);
        transition select(hdr.items.lastIndex) {
            2: done;
            default: check;
        }
    }
    state check {
        transition select(hdr.items.last.value) {
            0: done;
            default: item;
        }
    }
    state done {
        meta.index = (bit<8>) hdr.items.lastIndex;
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.b = meta.index;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
