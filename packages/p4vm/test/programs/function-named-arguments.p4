// Arguments by name, in another order than the parameters.
#include "include/base.p4"

bit<8> weighted(in bit<8> x, in bit<8> by, in bit<8> plus) {
    return x * by + plus;
}

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.b = weighted(by = 3, x = hdr.h.a, plus = 1) - weighted(plus = 2, x = 1, by = hdr.h.a);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
