// Counters count packets and the bytes that came in, whatever headers are added or taken.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    counter(4, CounterType.packets_and_bytes) seen;
    apply {
        hdr.h.setInvalid();
        seen.count((bit<32>) hdr.h.a);
        SM.egress_spec = 2;
    }
}
EGRESS {
    counter(2, CounterType.packets_and_bytes) left;
    apply {
        left.count(1);
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
