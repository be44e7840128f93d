// A key that is a call of a function, and one that is a conditional expression.
#include "include/base.p4"

bit<8> low(in bit<8> x) {
    return x & 0x0f;
}

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    table t {
        key = {
            low(hdr.h.a): exact @name("low");
            (hdr.h.b > 9 ? 8w1 : 8w0): exact @name("large");
        }
        actions = { to; }
        default_action = to(9);
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
