// A clone keeps the fields of its list as they are at the end of ingress; the others are 0.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t {
    @field_list(1)
    bit<8> kept;
    @field_list(1, 2)
    bit<8> both;
    bit<8> lost;
}

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
        meta.kept = 1;
        meta.both = 2;
        meta.lost = 3;
        if (hdr.h.a == 1) clone_preserving_field_list(CloneType.I2E, 5, 1);
        if (hdr.h.a == 2) clone_preserving_field_list(CloneType.I2E, 5, 2);
        if (hdr.h.a == 3) clone(CloneType.I2E, 5);
        // After the call, and still what the clone gets.
        meta.kept = meta.kept + 0x10;
        meta.both = meta.both + 0x20;
    }
}
EGRESS {
    apply {
        if (SM.instance_type != 0) {
            hdr.h.a = meta.kept;
            hdr.h.b = meta.both + meta.lost;
        }
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
