// ?: takes one side only, and nests in parentheses.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> r;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.r = hdr.h.a < 10 ? 8w1 : (hdr.h.a < 20 ? 8w2 : 8w3);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
