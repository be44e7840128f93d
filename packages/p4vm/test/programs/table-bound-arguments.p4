// Arguments with a direction are bound in the table: each table hands its own field to one action.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action add_to(inout bit<8> field, bit<8> amount) { field = field + amount; }
    table ta {
        key = { hdr.h.a: exact; }
        actions = { add_to(hdr.h.a); NoAction; }
        default_action = NoAction();
    }
    table tb {
        key = { hdr.h.b: exact; }
        actions = { add_to(hdr.h.b); NoAction; }
        default_action = NoAction();
    }
    apply {
        SM.egress_spec = 1;
        ta.apply();
        tb.apply();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
