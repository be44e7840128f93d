// Entries are changed and deleted by their handles while packets run.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    table t {
        key = { hdr.h.a: exact; }
        actions = { to; }
        default_action = to(9);
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
