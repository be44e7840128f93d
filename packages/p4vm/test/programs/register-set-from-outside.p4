// Registers written by the control plane are read by packets.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    register<bit<8>>(4) r;
    apply {
        SM.egress_spec = 1;
        r.read(hdr.h.b, (bit<32>) hdr.h.a);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
