// Constant entries with ranges: the first that matches; both ends belong to a range.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = { hdr.h.a: range; }
        actions = { to; drop; }
        const default_action = drop();
        const entries = {
            10 .. 20: to(1);
            15 .. 30: to(2);
            40: to(3);
            200 .. 255: to(5);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
