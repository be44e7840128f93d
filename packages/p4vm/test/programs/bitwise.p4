// And, or, exclusive or, complement; negation is the complement plus one.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> b;
    bit<8> and_;
    bit<8> or_;
    bit<8> xor_;
    bit<8> not_;
    bit<8> minus;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.and_ = hdr.h.a & hdr.h.b;
        hdr.h.or_ = hdr.h.a | hdr.h.b;
        hdr.h.xor_ = hdr.h.a ^ hdr.h.b;
        hdr.h.not_ = ~hdr.h.a;
        hdr.h.minus = -hdr.h.a;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
