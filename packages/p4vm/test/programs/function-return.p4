// return ends a function wherever it stands; nothing after it is run.
#include "include/base.p4"

bit<8> kind(in bit<8> x) {
    if (x == 0) return 0;
    if (x < 10) {
        return 1;
    } else if (x < 100) {
        return 2;
    }
    return 3;
}
void touch(inout bit<8> x) {
    if (x == 0) return;
    x = 0x55;
}

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.b = kind(hdr.h.a);
        touch(hdr.h.a);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
