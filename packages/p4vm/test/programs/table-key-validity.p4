// A key that is the validity of a header.
#include "include/base.p4"

header word_h { bit<16> w; }
struct headers_t {
    pair_h h;
    word_h w;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.a) {
            1: word;
            default: accept;
        }
    }
    state word {
        packet.extract(hdr.w);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    table t {
        key = {
            hdr.w.isValid(): exact;
            hdr.h.b: ternary;
        }
        actions = { to; drop; }
        const default_action = drop();
        const entries = {
            (true, 0x10 &&& 0xf0): to(1);
            (false, _): to(2);
        }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
