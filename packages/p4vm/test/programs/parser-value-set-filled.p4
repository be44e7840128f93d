// Values that the control plane puts into a value set and takes out of it.
// simple_switch 1.15 ends at the first of them.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t { bit<9> port; }

PARSER {
    value_set<bit<8>>(4) known;
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.a) {
            known: three;
            default: four;
        }
    }
    state three { meta.port = 3; transition accept; }
    state four { meta.port = 4; transition accept; }
}
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = meta.port; }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
