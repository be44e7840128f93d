// A sub-parser that chooses by an argument what to extract.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; pair_h l; }
NO_METADATA

parser Rest(packet_in packet, inout headers_t all, in bit<8> how, in bool deep) {
    state start {
        transition select(how, deep) {
            (1, true): both;
            (2, _): first;
            default: accept;
        }
    }
    state first { packet.extract(all.k); transition accept; }
    state both { packet.extract(all.k); packet.extract(all.l); transition accept; }
}

PARSER {
    Rest() rest;
    state start {
        packet.extract(hdr.h);
        rest.apply(packet, hdr, hdr.h.a, hdr.h.b == 0);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.l.isValid()) hdr.l.b = 0xee;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
