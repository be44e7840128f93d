// lookahead of a struct and of single bits.
#include "include/base.p4"

struct ahead_t { bit<16> h; bit<8> x; }

PAIR_HEADERS
struct metadata_t { bit<1> flag; bit<8> sum; }

PARSER {
    state start {
        meta.flag = packet.lookahead<bit<1>>();
        ahead_t next = packet.lookahead<ahead_t>();
        meta.sum = next.x + next.h[7:0];
        packet.extract(hdr.h);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (meta.flag == 1) SM.egress_spec = 2;
        hdr.h.b = meta.sum;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
