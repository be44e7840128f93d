// exit in an action ends ingress: what follows is not run, egress is.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action stop() {
        SM.egress_spec = 3;
        exit;
    }
    table t {
        key = { hdr.h.a: exact; }
        actions = { stop; NoAction; }
        default_action = NoAction();
    }
    apply {
        t.apply();
        SM.egress_spec = 1;
        hdr.h.b = 0xff;
    }
}
EGRESS {
    apply { hdr.h.a = hdr.h.a + 1; }
}
NO_COMPUTE
EMIT_ALL
SWITCH
