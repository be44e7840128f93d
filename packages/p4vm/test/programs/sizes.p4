// The sizes of headers and stacks are known at compile time.
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
        hdr.h.a = (bit<8>) hdr.h.minSizeInBytes() + 0x10 * (bit<8>) hdr.items.size;
        hdr.h.b = (bit<8>) hdr.items[0].minSizeInBits() + (bit<8>) hdr.h.maxSizeInBits();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
