// An optional key matches a value or anything.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = { hdr.h.a: exact; hdr.h.b: optional; }
        actions = { to; drop; }
        const default_action = drop();
        const entries = {
            (1, 5): to(1);
            (1, _): to(2);
            (2, 6): to(3);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
