// A meter without rates is green; with bursts of 0 every packet is red.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    meter(4, MeterType.packets) m;
    apply {
        SM.egress_spec = 1;
        bit<8> color = 0xff;
        m.execute_meter((bit<32>) hdr.h.a, color);
        hdr.h.b = color;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
