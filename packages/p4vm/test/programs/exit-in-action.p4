// exit in an action called directly ends ingress, whatever has called it.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action leave(bit<8> mark) {
        hdr.h.b = mark;
        exit;
    }
    apply {
        SM.egress_spec = 1;
        if (hdr.h.a == 1) leave(0x11);
        hdr.h.b = 0x22;
        if (hdr.h.a != 2) leave(0x33);
        hdr.h.a = 0x44;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
