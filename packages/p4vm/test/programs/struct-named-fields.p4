// Values of structs with named fields, in any order, and nested.
#include "include/base.p4"

struct point_t { bit<8> x; bit<8> y; }
struct line_t { point_t from; point_t to; }

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        line_t l = { to = { y = 4, x = hdr.h.b }, from = { x = hdr.h.a, y = 2 } };
        hdr.h.a = l.from.x + l.to.y;
        hdr.h.b = l.to.x - l.from.y;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
