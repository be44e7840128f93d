// Constant entries with priorities of their own: the smallest number wins where largest_priority_wins is false.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = { hdr.h.a: ternary; }
        actions = { to; drop; }
        const default_action = drop();
        largest_priority_wins = false;
        entries = {
            priority = 30: 0x10 &&& 0xf0: to(1);
            priority = 10: 0x12 &&& 0xff: to(2);
            priority = 20: 0x02 &&& 0x0f: to(3);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
