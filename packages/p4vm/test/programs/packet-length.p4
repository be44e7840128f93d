// packet_length is what came in, whatever headers ingress adds; egress sees it changed by setValid and setInvalid.
#include "include/base.p4"

header word_h {
    bit<32> w;
}
struct headers_t {
    pair_h h;
    word_h added;
}
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
        if (hdr.h.b == 1) {
            hdr.added.setValid();
            hdr.added.w = 0xdeadbeef;
        }
        hdr.h.a = (bit<8>) SM.packet_length;
    }
}
EGRESS {
    apply {
        hdr.h.b = (bit<8>) SM.packet_length;
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
