// A loop over the elements of a stack: each in turn, valid or not.
// p4c does not compile loops with in for simple_switch.
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
        bit<8> sum = 0;
        bit<8> count = 0;
        for (item_h item in hdr.items) {
            count = count + 0x10;
            if (item.isValid()) sum = sum + item.value;
        }
        hdr.h.a = sum;
        hdr.h.b = count;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
