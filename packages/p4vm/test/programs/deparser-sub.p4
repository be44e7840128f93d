// Deparsers within the deparser, each with the headers it is given.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; pair_h l; }
NO_METADATA

PARSER { state start { packet.extract(hdr.h); packet.extract(hdr.k); packet.extract(hdr.l); transition accept; } }
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = 1; }
}
NO_EGRESS
NO_COMPUTE
control Two(packet_out packet, in pair_h x, in pair_h y) {
    apply {
        packet.emit(x);
        packet.emit(y);
    }
}

DEPARSER {
    Two() two;
    apply {
        packet.emit(hdr.l);
        two.apply(packet, hdr.h, hdr.k);
    }
}
SWITCH
