// Macros with parameters, macros in macros, over several lines, with pasted names.
#include "include/base.p4"

#define ONE 1
#define SUM(x, y) ((x) + (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define SWAP(type, x, y) { \
    type held = x; \
    x = y; \
    y = held; \
}
#define FIELD(name, by) action set_##name() { hdr.h.name = SUM(hdr.h.name, by); }

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    FIELD(a, 1)
    FIELD(b, 2)
    apply {
        SM.egress_spec = SUM(ONE, 0);
        bit<8> a = hdr.h.a;
        SWAP(bit<8>, hdr.h.a, hdr.h.b)
        set_a();
        if (a > MAX(4, MAX(9, 2))) set_b();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
