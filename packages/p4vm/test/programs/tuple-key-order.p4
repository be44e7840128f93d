// Several lists in one select: keys are matched in their order.
#include "include/base.p4"

struct headers_t { pair_h h; }
struct metadata_t { bit<9> port; }

PARSER {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.b, hdr.h.a, SM.ingress_port) {
            (1, 2, 0): one;
            (2, 1, _): two;
            (_, _, 3): three;
            default: accept;
        }
    }
    state one { meta.port = 1; transition accept; }
    state two { meta.port = 2; transition accept; }
    state three { meta.port = 3; transition accept; }
}
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = meta.port; }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
