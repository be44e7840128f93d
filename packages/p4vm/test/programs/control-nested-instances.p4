// Controls within controls, handed constructor arguments from the outside; each instance keeps a register of its own.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

control Count(inout bit<8> x)(bit<8> from) {
    register<bit<8>>(1) seen;
    apply {
        bit<8> n;
        seen.read(n, 0);
        x = from + n;
        seen.write(0, n + 1);
    }
}
control Outer(inout bit<8> x)(bit<8> by) {
    Count(by) count;
    apply { count.apply(x); }
}

INGRESS {
    Outer(16) left;
    Outer(32) right;
    apply {
        SM.egress_spec = 1;
        if (hdr.h.a == 0) left.apply(hdr.h.b);
        else right.apply(hdr.h.b);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
