// Constants that are structs and tuples, and parts of them.
#include "include/base.p4"

struct point_t { bit<8> x; bit<8> y; }
const point_t ORIGIN = { 5, 0x10 };

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    const tuple<bit<8>, bit<8>> PAIR = { 3, 0x30 };
    apply {
        SM.egress_spec = 1;
        point_t p = ORIGIN;
        p.x = p.x + hdr.h.a;
        hdr.h.a = p.x;
        hdr.h.b = ORIGIN.y + PAIR[0] + PAIR[1];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
