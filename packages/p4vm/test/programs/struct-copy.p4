// A struct assigned to another is a copy: later changes of one are not seen in the other.
#include "include/base.p4"

struct inner_t { bit<8> x; bool flag; }
struct outer_t { inner_t i; bit<8> n; }

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        outer_t o = { { hdr.h.a, true }, 7 };
        outer_t p = o;
        o.i.x = o.i.x + 1;
        p.n = p.n + 1;
        inner_t i = p.i;
        p.i.flag = false;
        hdr.h.a = o.i.x + p.i.x;
        hdr.h.b = (bit<8>) (bit<1>) i.flag + o.n + p.n;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
