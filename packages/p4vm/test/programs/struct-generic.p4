// A generic struct is a type of its own for every argument.
#include "include/base.p4"

struct two_t<T> { T x; T y; }
struct box_t<T> { T value; }

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        two_t<bit<8>> narrow = { hdr.h.a, hdr.h.b };
        two_t<bit<16>> wide = { hdr.h.a ++ 8w1, (bit<16>) narrow.y };
        box_t<two_t<bit<16>>> boxed = { { 1, wide.x + wide.y } };
        hdr.h.a = boxed.value.y[15:8];
        hdr.h.b = boxed.value.y[7:0];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
