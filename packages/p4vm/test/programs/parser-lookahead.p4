// lookahead reads without taking: a field, and a whole header.
#include "include/base.p4"

struct headers_t {
    pair_h first;
    pair_h second;
}
struct metadata_t {
    bit<8> next;
    bit<8> far;
}

PARSER {
    state start {
        meta.next = packet.lookahead<bit<8>>();
        transition select(meta.next) {
            0xff: skip;
            default: take;
        }
    }
    state skip {
        meta.far = packet.lookahead<pair_h>().b;
        transition accept;
    }
    state take {
        packet.extract(hdr.first);
        transition select(packet.lookahead<bit<16>>()) {
            0x0102: again;
            default: accept;
        }
    }
    state again {
        packet.extract(hdr.second);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.second.isValid()) hdr.second.b = 0xbb;
        else if (hdr.first.isValid()) hdr.first.b = 0xaa;
        else SM.egress_spec = (bit<9>) meta.far;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
