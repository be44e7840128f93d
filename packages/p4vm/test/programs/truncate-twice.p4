// Of several lengths the smallest counts, ingress and egress together.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
        truncate(5);
        if (hdr.h.a == 1) truncate(3);
        if (hdr.h.a == 2) truncate(8);
    }
}
EGRESS {
    apply {
        if (hdr.h.a == 3) truncate(4);
        if (hdr.h.a == 4) truncate(6);
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
