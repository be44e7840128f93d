// A control used twice has its tables twice, each with entries of its own.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

control Sub(inout bit<8> field) {
    action put(bit<8> v) { field = v; }
    table t {
        key = { field: exact; }
        actions = { put; NoAction; }
        default_action = NoAction();
    }
    apply { t.apply(); }
}

INGRESS {
    Sub() first;
    Sub() second;
    apply {
        SM.egress_spec = 1;
        first.apply(hdr.h.a);
        second.apply(hdr.h.b);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
