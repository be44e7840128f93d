// One table decides which table comes next; each is applied once at most.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    action go(bit<8> next) { hdr.h.b = next; }
    table first {
        key = { hdr.h.a: exact; }
        actions = { go; NoAction; }
        default_action = NoAction();
    }
    table second {
        key = { hdr.h.b: exact; }
        actions = { to; drop; }
        default_action = drop();
    }
    table third {
        key = { hdr.h.a: exact; }
        actions = { to; }
        const default_action = to(9);
    }
    apply {
        if (first.apply().hit) {
            if (!second.apply().hit) third.apply();
        } else {
            third.apply();
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
