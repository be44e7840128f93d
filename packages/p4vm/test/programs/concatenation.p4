// ++ puts its left operand into the high bits.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> b;
    bit<16> ab;
    bit<24> mixed;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.ab = hdr.h.a ++ hdr.h.b;
        hdr.h.mixed = hdr.h.b[3:0] ++ hdr.h.ab ++ 4w0xe;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
