// Entries that share members of an action profile: a member changed is changed for all of them.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action_profile(16) shared;
    table t {
        key = { hdr.h.a: exact; }
        actions = { to; NoAction; }
        default_action = NoAction();
        implementation = shared;
    }
    apply {
        SM.egress_spec = 4;
        if (t.apply().hit) hdr.h.b = 0xee;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
