// A field of an invalid header is 0 as a key.
#include "include/base.p4"

struct headers_t {
    pair_h h;
    pair_h other;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.other);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = { hdr.other.a: exact; }
        actions = { to; drop; }
        default_action = drop();
    }
    apply {
        if (hdr.h.a == 1) hdr.other.setInvalid();
        t.apply();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
