// Of a conditional expression only the branch chosen is evaluated: the other changes nothing.
#include "include/base.p4"

bit<8> more(inout bit<8> count, in bit<8> by) {
    count = count + by;
    return count;
}

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        bit<8> count = 0;
        SM.egress_spec = 1;
        bit<8> r = hdr.h.a > 9 ? more(count, 1) : more(count, 16);
        bit<8> s = hdr.h.a == 20 ? 8w1 : (hdr.h.a == 3 ? 8w2 : 8w4);
        hdr.h.b = count + r + (s << 1);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
