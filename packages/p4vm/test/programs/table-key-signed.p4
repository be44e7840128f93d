// A signed number as an exact key.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    table t {
        key = { (int<8>) hdr.h.a: exact @name("x"); }
        actions = { to; }
        const default_action = to(9);
        const entries = {
            5: to(1);
            127: to(2);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
