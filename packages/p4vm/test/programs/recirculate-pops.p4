// Each round takes a header off: what the parser sees is what the deparser left.
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
        if (hdr.h.a == 0xff) {
            hdr.h.setInvalid();
            recirculate_preserving_field_list(0);
        }
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
