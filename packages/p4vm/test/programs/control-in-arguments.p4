// in arguments are copies: what is done to the variable meanwhile is not seen inside.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action touch(in bit<8> before, inout bit<8> x) {
        x = x + 1;
        hdr.h.b = before;
    }
    apply {
        SM.egress_spec = 1;
        touch(hdr.h.a, hdr.h.a);
        touch(hdr.h.b + hdr.h.a, hdr.h.b);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
