// A table reads its keys before its action writes them; action data does not change what was matched.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action set(bit<8> x) {
        hdr.h.a = x;
        hdr.h.b = hdr.h.a + x;
    }
    table t {
        key = { hdr.h.a: exact; }
        actions = { set; NoAction; }
        default_action = NoAction();
    }
    apply {
        SM.egress_spec = 1;
        if (t.apply().hit) {
            if (hdr.h.a == 7) SM.egress_spec = 2;
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
