// Actions called from actions, with expressions and their own parameters.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action set_b(in bit<8> x) { hdr.h.b = x; }
    action add(inout bit<8> to, in bit<8> x) {
        to = to + x;
        set_b(to ^ 0xff);
    }
    action all(bit<8> x) {
        add(hdr.h.a, x);
        add(hdr.h.a, hdr.h.b);
    }
    table t {
        actions = { all; }
        const default_action = all(3);
    }
    apply {
        SM.egress_spec = 1;
        t.apply();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
