// Structs within metadata, assigned whole and in parts.
#include "include/base.p4"

PAIR_HEADERS
struct point_t { bit<8> x; bit<8> y; }
struct metadata_t {
    point_t one;
    point_t two;
}

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        meta.one = { hdr.h.a, hdr.h.b };
        meta.two = meta.one;
        meta.one.x = 0x77;
        hdr.h.a = meta.two.y;
        hdr.h.b = meta.two.x + (meta.one.x == meta.two.x ? 8w1 : 8w0);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
