// Operands and arguments are evaluated from the left: a value read before a call is the one before it.
#include "include/base.p4"

bit<8> twice(inout bit<8> x) {
    x = x + x;
    return x;
}
bit<8> difference(in bit<8> x, in bit<8> y) {
    return x - y;
}

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> x = hdr.h.a;
        bit<8> left = x - twice(x);
        bit<8> y = hdr.h.a;
        bit<8> right = twice(y) - y;
        bit<8> z = hdr.h.a;
        hdr.h.b = difference(twice(z), twice(z));
        hdr.h.a = left + right;
        if (right != 0) SM.egress_spec = 2;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
