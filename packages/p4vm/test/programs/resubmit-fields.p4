// A resubmitted packet is parsed again as it was received, with the listed metadata.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t {
    @field_list(1)
    bit<8> kept;
    bit<8> lost;
}

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
        if (SM.instance_type == 0 && hdr.h.a == 1) {
            hdr.h.a = 0x77;
            meta.kept = 8;
            meta.lost = 9;
            resubmit_preserving_field_list(1);
        } else {
            hdr.h.b = meta.kept + meta.lost;
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
