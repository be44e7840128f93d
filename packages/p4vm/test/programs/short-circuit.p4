// && and || do not call what they do not need.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> calls;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

bool count(inout bit<8> calls) {
    calls = calls + 1;
    return true;
}

INGRESS {
    apply {
        SM.egress_spec = 1;
        bool x = hdr.h.a == 1 && count(hdr.h.calls);
        bool y = hdr.h.a == 2 || count(hdr.h.calls);
        if (x || y) hdr.h.a = 0xff;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
