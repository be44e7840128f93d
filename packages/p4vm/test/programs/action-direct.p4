// An action called like a function, with its own arguments.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action put(inout bit<8> field, in bit<8> value, bit<9> port) {
        field = field ^ value;
        SM.egress_spec = port;
    }
    apply {
        put(hdr.h.a, hdr.h.b, 3);
        if (hdr.h.a == 0) put(hdr.h.b, 1, 4);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
