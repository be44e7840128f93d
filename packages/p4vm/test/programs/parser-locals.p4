// Constants, variables and headers of a parser's own; what a state leaves in them the next one sees.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; pair_h l; }
struct metadata_t { bit<8> sum; }

PARSER {
    const bit<8> LIMIT = 2 + 2;
    pair_h ahead;
    bit<8> n = 0x10;
    state start {
        packet.extract(hdr.h);
        ahead = packet.lookahead<pair_h>();
        n = n + hdr.h.a;
        transition select(hdr.h.a < LIMIT) {
            true: more;
            default: accept;
        }
    }
    state more {
        n = n + ahead.a + ahead.b - 1;
        meta.sum = n;
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.b = meta.sum;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
