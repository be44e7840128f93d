// apply().hit and apply().miss tell whether an entry matched, not which action ran.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action mark() { hdr.h.b = 0x55; }
    table t {
        key = { hdr.h.a: exact; }
        actions = { mark; NoAction; }
        default_action = mark();
    }
    table u {
        key = { hdr.h.b: exact; }
        actions = { NoAction; }
        default_action = NoAction();
    }
    apply {
        if (t.apply().hit) SM.egress_spec = 1;
        else SM.egress_spec = 2;
        if (u.apply().miss) hdr.h.a = hdr.h.a + 0x10;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
