// inout arguments are copied in before the call and copied out after it, the last parameter last.
#include "include/base.p4"

// The second parameter does not see what happens to the first.
void mix(inout bit<8> p, inout bit<8> q) {
    p = p + q;
    q = q + 1;
}

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> x = hdr.h.a;
        mix(x, x);
        hdr.h.b = x;
        bit<8> n = 1;
        bit<8> m = 2;
        mix(n, m);
        hdr.h.a = n + (m << 4);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
