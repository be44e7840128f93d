// reject in a sub-parser ends the parser that called it.
#include "include/base.p4"

error { Odd }

struct headers_t { pair_h h; pair_h k; pair_h l; }
NO_METADATA

parser Pair(packet_in packet, out pair_h pair) {
    state start {
        packet.extract(pair);
        verify(pair.a != 1, error.Odd);
        transition select(pair.a) {
            0: reject;
            default: accept;
        }
    }
}

PARSER {
    Pair() inner;
    state start {
        packet.extract(hdr.h);
        inner.apply(packet, hdr.k);
        packet.extract(hdr.l);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.l.isValid()) SM.egress_spec = 2;
        if (SM.parser_error == error.Odd) SM.egress_spec = 3;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
