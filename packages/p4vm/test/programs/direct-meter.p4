// A direct meter gives the color of the entry that matched; one without rates is green.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    direct_meter<bit<2>>(MeterType.packets) m;
    bit<2> color;
    action to(bit<9> port) {
        SM.egress_spec = port;
        m.read(color);
    }
    table t {
        key = { hdr.h.a: exact; }
        actions = { to; NoAction; }
        default_action = NoAction();
        meters = m;
    }
    apply {
        SM.egress_spec = 4;
        color = 3;
        t.apply();
        hdr.h.b = (bit<8>) color;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
