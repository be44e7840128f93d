// packet_length of a clone of ingress is what came in; of egress what the packet had come to.
#include "include/base.p4"

struct headers_t {
    pair_h h;
    pair_h more;
}
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.more.setValid();
        hdr.more.a = 0xcc;
        hdr.more.b = 0xdd;
        if (hdr.h.a == 1) clone(CloneType.I2E, 5);
    }
}
EGRESS {
    apply {
        hdr.h.b = (bit<8>) SM.packet_length;
        if (hdr.h.a == 2 && SM.instance_type == 0) clone(CloneType.E2E, 5);
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
