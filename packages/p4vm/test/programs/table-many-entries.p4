// Hundreds of entries in one table: exact ones, all different.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action set(bit<8> b) {
        SM.egress_spec = 2;
        hdr.h.b = b;
    }
    table t {
        key = { hdr.h.a: exact; }
        actions = { to; set; }
        size = 256;
        default_action = to(1);
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
