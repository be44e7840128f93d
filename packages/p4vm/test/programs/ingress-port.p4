// ingress_port is the port a packet came in by, in parser, ingress and egress.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t {
    bit<9> seen;
}

PARSER {
    state start {
        meta.seen = SM.ingress_port;
        packet.extract(hdr.h);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        hdr.h.a = (bit<8>) meta.seen + (bit<8>) SM.ingress_port;
        SM.egress_spec = 1;
    }
}
EGRESS {
    apply {
        hdr.h.b = (bit<8>) SM.ingress_port;
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
