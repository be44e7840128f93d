// A generic function is one function for every type it is called with.
#include "include/base.p4"

T chosen<T>(in bool first, in T x, in T y) {
    if (first) return x;
    return y;
}
void swapped<T>(inout T x, inout T y) {
    T held = x;
    x = y;
    y = held;
}

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bool large = hdr.h.a > 9;
        bit<16> wide = chosen(large, 16w0x1234, 16w0xabcd);
        hdr.h.b = chosen<bit<8>>(large, wide[15:8], wide[7:0]);
        swapped(hdr.h.a, hdr.h.b);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
