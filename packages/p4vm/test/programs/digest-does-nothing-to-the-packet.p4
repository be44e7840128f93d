// digest tells the control plane and leaves the packet as it is.
#include "include/base.p4"

PAIR_HEADERS
struct note_t { bit<8> a; bit<9> port; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        digest<note_t>(1, { hdr.h.a, SM.ingress_port });
        hdr.h.b = 0x77;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
