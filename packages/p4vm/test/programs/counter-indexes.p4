// A counter is counted at an index of the packet; an index beyond its size counts nothing.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    counter(3, CounterType.packets_and_bytes) c;
    apply {
        SM.egress_spec = 1;
        c.count((bit<32>) hdr.h.a);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
