// Constant entries over a ternary, a range, an optional and an exact key together.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = {
            hdr.h.a[7:4]: ternary @name("kind");
            hdr.h.a[3:0]: range @name("level");
            hdr.h.b: optional @name("rest");
            SM.ingress_port: exact @name("from");
        }
        actions = { to; drop; }
        const default_action = drop();
        const entries = {
            (1, 0 .. 3, 5, 0): to(1);
            (1, 2 .. 9, _, 0): to(2);
            (0x8 &&& 0xc, _, 7, 0): to(3);
            (_, 15, _, 0): to(4);
            (_, _, 9, 1): to(5);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
