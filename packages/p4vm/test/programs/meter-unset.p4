// A meter that nobody has given rates lets everything pass as green.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    meter(4, MeterType.packets) m;
    apply {
        bit<8> color = 9;
        m.execute_meter((bit<32>) hdr.h.a, color);
        hdr.h.b = color;
        SM.egress_spec = 1;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
