// A recirculated packet comes back as the deparser made it, with the listed metadata.
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
        if (SM.instance_type != 0) hdr.h.b = meta.kept + meta.lost;
    }
}
EGRESS {
    apply {
        if (hdr.h.a == 1) {
            hdr.h.a = 7;
            meta.kept = 3;
            meta.lost = 4;
            recirculate_preserving_field_list(1);
        }
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
