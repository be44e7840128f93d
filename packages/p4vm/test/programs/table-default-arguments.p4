// A constant default action with arguments; actions with no key to choose them.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action drop() { mark_to_drop(SM); }
    action set(bit<9> port, bit<8> mark) {
        SM.egress_spec = port;
        hdr.h.b = mark;
    }
    table t {
        key = { hdr.h.a: exact; }
        actions = { set; drop; }
        const default_action = set(3, 0x40 + 2);
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
