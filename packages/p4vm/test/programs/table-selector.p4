// A selector spreads packets over the members of a group by a hash of its keys; an entry may name one member too.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action_selector(HashAlgorithm.crc16, 32w16, 32w14) spread;
    table t {
        key = {
            hdr.h.a: exact;
            hdr.h.b: selector;
        }
        actions = { to; NoAction; }
        const default_action = NoAction();
        implementation = spread;
    }
    apply {
        SM.egress_spec = 4;
        t.apply();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
