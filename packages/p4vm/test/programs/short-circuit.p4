// && and || leave their right side alone when the left one decides.
#include "include/base.p4"

bool counted(inout bit<8> count) {
    count = count + 1;
    return true;
}

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> count = 0;
        if (hdr.h.a > 9 && counted(count)) hdr.h.a = 0xaa;
        if (hdr.h.a > 99 || counted(count)) count = count + 16;
        hdr.h.b = count;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
