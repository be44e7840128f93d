// Calls as arguments of calls: the inner ones first, from the left.
#include "include/base.p4"

bit<8> next(inout bit<8> n) {
    n = n + 1;
    return n;
}
bit<8> sub(in bit<8> x, in bit<8> y) {
    return x - y;
}

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> n = hdr.h.a;
        hdr.h.b = sub(next(n), sub(next(n), next(n)));
        hdr.h.a = n;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
