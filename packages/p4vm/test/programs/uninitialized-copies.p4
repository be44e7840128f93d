// A struct copied in part: fields of one packet never appear in the next.
#include "include/base.p4"

struct point_t { bit<8> x; bit<8> y; }

PAIR_HEADERS
struct metadata_t { point_t q; }

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        point_t p = { 0, 0 };
        if (hdr.h.a == 1) p.x = hdr.h.b;
        meta.q = p;
        if (hdr.h.a == 2) meta.q.y = meta.q.x + 1;
        hdr.h.b = meta.q.x + meta.q.y;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
