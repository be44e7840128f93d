// ... in a list stands for the zero of every field not named; headers there are invalid.
#include "include/base.p4"

struct three_t { bit<8> x; bit<8> y; bool flag; pair_h h; }

struct headers_t { pair_h h; pair_h k; pair_h l; }
NO_METADATA

PARSER { state start { packet.extract(hdr.h); packet.extract(hdr.k); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        three_t t = { y = hdr.h.a, ... };
        hdr.h.b = t.x + t.y + (bit<8>) (bit<1>) t.flag;
        if (t.h.isValid()) SM.egress_spec = 2;
        hdr.k = { a = 5, ... };
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
