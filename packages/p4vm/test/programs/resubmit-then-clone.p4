// A packet is resubmitted, and in its second round cloned: the metadata of each list comes along.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t {
    @field_list(1) bit<8> round;
    @field_list(1, 2) bit<8> kept;
    bit<8> lost;
}

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (meta.round == 0) {
            meta.round = 1;
            meta.kept = hdr.h.a;
            resubmit_preserving_field_list(1);
        } else {
            hdr.h.b = meta.kept;
            meta.lost = 0x33;
            clone_preserving_field_list(CloneType.I2E, 5, 2);
        }
    }
}
EGRESS {
    apply {
        if (SM.instance_type == 1) hdr.h.b = 0x10 + meta.kept + meta.lost + meta.round;
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
