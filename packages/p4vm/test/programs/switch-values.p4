// switch over a number: cases with one or several values, and default.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> r;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        switch (hdr.h.a) {
            1: { hdr.h.r = 0x11; }
            2:
            3: { hdr.h.r = 0x23; }
            default: { hdr.h.r = 0xdd; }
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
