// Headers leave in the order of the deparser, not of the parser; only valid ones.
#include "include/base.p4"

struct headers_t {
    pair_h first;
    pair_h second;
    pair_h third;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.first);
        packet.extract(hdr.second);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.first.a == 1) {
            hdr.third.setValid();
            hdr.third.a = 0xaa;
            hdr.third.b = 0xbb;
        }
        if (hdr.first.a == 2) hdr.second.setInvalid();
    }
}
NO_EGRESS
NO_COMPUTE
DEPARSER {
    apply {
        packet.emit(hdr.third);
        packet.emit(hdr.second);
        packet.emit(hdr.first);
    }
}
SWITCH
