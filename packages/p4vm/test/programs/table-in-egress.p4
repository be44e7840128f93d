// A table in egress matches what ingress left: headers, metadata, the port.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t {
    bit<8> class;
}

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = (bit<9>) hdr.h.a;
        meta.class = hdr.h.b & 0xf0;
    }
}
EGRESS {
    action mark(bit<8> m) { hdr.h.b = m; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = {
            SM.egress_port: exact;
            meta.class: exact;
        }
        actions = { mark; drop; NoAction; }
        default_action = NoAction();
    }
    apply { t.apply(); }
}
NO_COMPUTE
EMIT_ALL
SWITCH
