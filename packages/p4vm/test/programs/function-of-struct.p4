// A function takes a struct and gives one back; it works on copies.
#include "include/base.p4"

struct point_t { bit<8> x; bit<8> y; }

point_t mirrored(in point_t p) {
    point_t r = p;
    r.x = p.y;
    r.y = p.x;
    return r;
}

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        point_t p = { hdr.h.a, hdr.h.b };
        point_t q = mirrored(p);
        hdr.h.a = q.x + p.x;
        hdr.h.b = q.y - p.y;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
