// Names from annotations: of a table, a key and its actions.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action drop() { mark_to_drop(SM); }
    @name("send") action to(bit<9> port) { SM.egress_spec = port; }
    @name("forward") table t {
        key = { hdr.h.a + 1: exact @name("next"); }
        actions = { to; drop; }
        default_action = drop();
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
