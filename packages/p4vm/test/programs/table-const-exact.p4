// Constant entries of exact keys, several keys, a masked one written in another base.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = {
            hdr.h.a: exact;
            hdr.h.b: exact;
        }
        actions = { to; drop; }
        const default_action = drop();
        const entries = {
            (0x10, 1): to(1);
            (16, 0b10): to(2);
            (0xff, 255): to(3);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
