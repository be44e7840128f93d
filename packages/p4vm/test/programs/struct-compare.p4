// Structs are equal when all their fields are.
#include "include/base.p4"

struct point_t { bit<8> x; bit<8> y; }

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        point_t p = { hdr.h.a, hdr.h.b };
        point_t q = { hdr.h.b, hdr.h.a };
        bit<8> r = 0;
        if (p == q) r = r + 1;
        if (p != q) r = r + 2;
        if (p == { 1, 2 }) r = r + 4;
        hdr.h.a = r;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
