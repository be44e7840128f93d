// A table whose entries share actions by a selector: without members and entries the default action runs.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action to(bit<9> port) { SM.egress_spec = port; }
    action_selector(HashAlgorithm.crc16, 32w16, 32w14) chosen;
    table t {
        key = {
            hdr.h.a: exact;
            hdr.h.b: selector;
        }
        actions = { to; NoAction; }
        const default_action = NoAction();
        implementation = chosen;
    }
    apply {
        SM.egress_spec = 4;
        if (t.apply().hit) SM.egress_spec = 5;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
