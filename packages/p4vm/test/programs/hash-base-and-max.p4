// The result of hash is base + value % max; a max of 0 counts as 1.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> max;
    bit<8> r;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hash(hdr.h.r, HashAlgorithm.identity, 8w10, { hdr.h.a }, hdr.h.max);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
