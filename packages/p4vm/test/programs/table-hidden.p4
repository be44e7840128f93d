// A table and an action hidden from the control plane work as any other.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    @hidden action mark() { hdr.h.b = 0x55; }
    @hidden table t {
        actions = { mark; }
        const default_action = mark();
    }
    apply {
        SM.egress_spec = 1;
        t.apply();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
