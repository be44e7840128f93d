// A digest goes to the control plane; the packet goes its way unchanged.
#include "include/base.p4"

struct note_t { bit<8> b; bit<9> port; }

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.h.a == 1) digest<note_t>(7, { hdr.h.b, SM.ingress_port });
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
