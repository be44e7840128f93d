// random gives numbers between its bounds, both ends included.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> r;
        bit<8> only;
        random(r, 8w10, 8w20);
        random(only, hdr.h.a, hdr.h.a);
        if (r < 10 || r > 20) SM.egress_spec = 2;
        hdr.h.b = only;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
