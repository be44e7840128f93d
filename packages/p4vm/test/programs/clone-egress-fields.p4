// A clone of egress keeps the listed metadata, and only that.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t {
    @field_list(3)
    bit<8> kept;
    bit<8> lost;
}

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        meta.kept = 5;
        meta.lost = 6;
    }
}
EGRESS {
    apply {
        if (SM.instance_type == 0) {
            clone_preserving_field_list(CloneType.E2E, 5, 3);
            meta.kept = meta.kept + 1;
        } else {
            hdr.h.a = meta.kept;
            hdr.h.b = meta.lost;
        }
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
