// advance skips bits, by a constant and by a number of the packet; what is skipped is gone.
#include "include/base.p4"

struct headers_t {
    pair_h h;
    pair_h more;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        packet.advance(16);
        packet.advance((bit<32>) hdr.h.b << 3);
        packet.extract(hdr.more);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
