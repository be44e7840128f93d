// select on a signed number.
// simple_switch does not take negative values in a select.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t { bit<9> port; }

PARSER {
    state start {
        packet.extract(hdr.h);
        transition select((int<8>) hdr.h.a) {
            -1: one;
            -128: two;
            1: three;
            default: four;
        }
    }
    state one { meta.port = 1; transition accept; }
    state two { meta.port = 2; transition accept; }
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
