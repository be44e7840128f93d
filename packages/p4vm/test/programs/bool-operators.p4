// Operators of bool: equality, exclusion by !=, negation, and their order.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bool a = hdr.h.a[0:0] == 1;
        bool b = hdr.h.a[1:1] == 1;
        bool c = hdr.h.a[2:2] == 1;
        bit<8> r = 0;
        if (a == b) r = r | 1;
        if (a != c) r = r | 2;
        if (!a && b || c) r = r | 4;
        if (!(a || b) == c) r = r | 8;
        hdr.h.b = r;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
