// Operators bind as the language says: not as in C for & | ^ against comparisons.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> a = hdr.h.a;
        bit<8> r = 0;
        if (a & 1 == 1) r = r + 1;
        if (a | 2 == 2 && a < 4) r = r + 2;
        r = r + (a << 1 + 1 & 0x10);
        hdr.h.b = r;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
