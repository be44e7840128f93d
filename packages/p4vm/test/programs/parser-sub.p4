// A parser within a parser takes its headers and comes back.
#include "include/base.p4"

struct headers_t {
    pair_h h;
    pair_h inner;
    pair_h tail;
}
NO_METADATA

parser Sub(packet_in packet, out pair_h p, out bit<8> sum) {
    state start {
        packet.extract(p);
        sum = p.a + p.b;
        transition accept;
    }
}

PARSER {
    Sub() sub;
    bit<8> sum;
    state start {
        packet.extract(hdr.h);
        sub.apply(packet, hdr.inner, sum);
        hdr.h.b = sum;
        transition select(sum) {
            0: accept;
            default: tail;
        }
    }
    state tail {
        packet.extract(hdr.tail);
        hdr.tail.a = 0xff;
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = 1; }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
