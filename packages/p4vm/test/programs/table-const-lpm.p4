// Constant entries with prefixes: the longest, wherever it stands.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = { hdr.h.a: lpm; }
        actions = { to; drop; }
        const default_action = drop();
        const entries = {
            0x80 &&& 0x80: to(1);
            0xc0 &&& 0xf0: to(2);
            0xc0 &&& 0xc0: to(3);
            0xff: to(4);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
