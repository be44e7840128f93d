// An exact match: the entry of the key, or the default action.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = { hdr.h.a: exact; }
        actions = { to; drop; }
        default_action = drop();
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
