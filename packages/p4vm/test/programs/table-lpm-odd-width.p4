// Prefixes of a key of 12 bits are counted from its own top bit.
// simple_switch counts from the top of the two bytes it keeps the key in.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action drop() { mark_to_drop(SM); }
    bit<12> where;
    table t {
        key = { where: lpm; }
        actions = { to; drop; }
        const default_action = drop();
        const entries = {
            0x120 &&& 0xff0: to(1);
            0x100 &&& 0xf00: to(2);
            0x800 &&& 0x800: to(3);
        }
    }
    apply {
        where = hdr.h.a[3:0] ++ hdr.h.b;
        t.apply();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
