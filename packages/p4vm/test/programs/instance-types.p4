// instance_type: 0 for normal packets, 1 for clones of ingress, 2 of egress, 5 for copies of multicast, and 0 in egress of packets recirculated or resubmitted.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (hdr.h.a == 1) clone(CloneType.I2E, 5);
        if (hdr.h.a == 3) SM.mcast_grp = 1;
        if (hdr.h.a == 4 && SM.instance_type == 0) resubmit_preserving_field_list(0);
        if (hdr.h.a == 4 && SM.instance_type == 6) hdr.h.a = 0x46;
        if (hdr.h.a == 6 && SM.instance_type == 4) hdr.h.a = 0x64;
    }
}
EGRESS {
    apply {
        hdr.h.b = (bit<8>) SM.instance_type;
        if (hdr.h.a == 2 && SM.instance_type == 0) clone(CloneType.E2E, 5);
        if (hdr.h.a == 5) {
            hdr.h.a = 6;
            recirculate_preserving_field_list(0);
        }
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
