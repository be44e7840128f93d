// packet_length of a recirculated packet is the length it has then.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
        if (SM.instance_type == 4) hdr.h.b = (bit<8>) SM.packet_length;
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
