// A packet of no bytes goes through: the parser has an error, ingress and egress run.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (!hdr.h.isValid()) {
            hdr.h.setValid();
            hdr.h.a = 0xee;
            hdr.h.b = (bit<8>) SM.packet_length;
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
