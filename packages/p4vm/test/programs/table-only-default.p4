// Actions for entries alone and for the default alone.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action mark(bit<8> with) {
        SM.egress_spec = 5;
        hdr.h.b = with;
    }
    table t {
        key = { hdr.h.a: exact; }
        actions = {
            @tableonly to;
            @defaultonly mark;
        }
        const default_action = mark(0x55);
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
