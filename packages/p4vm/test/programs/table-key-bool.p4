// Keys of type bool and bit<1>.
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
            hdr.h.a > 0x7f: exact @name("big");
            hdr.h.b[0:0]: exact @name("odd");
        }
        actions = { to; drop; }
        const default_action = drop();
        const entries = {
            (true, 0): to(1);
            (true, 1): to(2);
            (false, 1): to(3);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
