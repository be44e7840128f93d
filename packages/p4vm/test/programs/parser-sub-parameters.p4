// A sub-parser with arguments in and out, used twice, by constructor arguments of its own.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; pair_h l; }
struct metadata_t { bit<8> sum; }

parser Pair(packet_in packet, out pair_h pair, in bit<8> x, inout bit<8> sum)(bit<8> by) {
    state start {
        packet.extract(pair);
        sum = sum + pair.a * by + x;
        transition accept;
    }
}

PARSER {
    Pair(2) first;
    Pair(5) second;
    state start {
        packet.extract(hdr.h);
        first.apply(packet, hdr.k, hdr.h.a, meta.sum);
        second.apply(packet, hdr.l, 0, meta.sum);
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
