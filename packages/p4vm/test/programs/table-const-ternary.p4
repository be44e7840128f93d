// Constant entries with masks and wildcards: the first that matches.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = { hdr.h.a: ternary; hdr.h.b: exact; }
        actions = { to; drop; }
        const default_action = drop();
        const entries = {
            (0x12, 1): to(1);
            (0x10 &&& 0xf0, 1): to(2);
            (_, 2): to(3);
            (0x0f &&& 0x0f, 2): to(4);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
