// A hit as part of a condition: with && the table may not be applied at all.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action mark() { hdr.h.b = 0x55; }
    table t {
        key = { hdr.h.a[6:0]: exact @name("low"); }
        actions = { mark; }
        const default_action = mark();
        const entries = { 1: mark(); }
    }
    apply {
        to(2);
        if (hdr.h.a[7:7] == 1 && t.apply().hit) to(1);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
