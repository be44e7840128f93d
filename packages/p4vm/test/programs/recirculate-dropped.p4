// A drop in egress beats recirculate.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
    }
}
EGRESS {
    apply {
        if (SM.instance_type == 0 && hdr.h.a < 3) recirculate_preserving_field_list(0);
        if (hdr.h.a == 1) mark_to_drop(SM);
        hdr.h.b = hdr.h.b + 1;
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
