// Keys that are expressions: a sum, a mask, a slice, each under its own name.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action note(bit<8> n) { hdr.h.b = n; }
    table t {
        key = {
            hdr.h.a + hdr.h.b: exact @name("sum");
            hdr.h.a[3:0]: exact @name("low");
        }
        actions = { note; NoAction; }
        default_action = NoAction();
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
