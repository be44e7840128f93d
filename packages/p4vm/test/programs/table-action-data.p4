// An action with three parameters of its own, each of another width.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action fill(bit<9> port, bit<8> a, bit<8> b) {
        SM.egress_spec = port;
        hdr.h.a = a;
        hdr.h.b = b;
    }
    table t {
        key = { hdr.h.a: exact; }
        actions = { fill; }
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
