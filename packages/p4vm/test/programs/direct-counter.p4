// A direct counter counts for each entry what it matched.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    direct_counter(CounterType.packets_and_bytes) hits;
    action to(bit<9> port) {
        SM.egress_spec = port;
        hits.count();
    }
    table t {
        key = { hdr.h.a: exact; }
        actions = { to; NoAction; }
        default_action = NoAction();
        counters = hits;
    }
    apply { t.apply(); }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
