// Slices read and written: bits that are not named stay.
#include "include/base.p4"

header x_h {
    bit<16> w;
    bit<8> high;
    bit<8> middle;
    bit<8> mixed;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.high = hdr.h.w[15:8];
        hdr.h.middle = hdr.h.w[11:4];
        hdr.h.mixed[7:4] = hdr.h.w[3:0];
        hdr.h.w[8:7] = 2w0b10;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
