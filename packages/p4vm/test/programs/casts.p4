// Casts cut, extend with zeros, and extend with the sign.
#include "include/base.p4"

header x_h {
    bit<16> w;
    bit<8> low;
    bit<16> wide;
    int<16> signed;
    bit<8> bool_;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.low = (bit<8>) hdr.h.w;
        hdr.h.wide = (bit<16>) hdr.h.w[7:0];
        hdr.h.signed = (int<16>) (int<8>) hdr.h.w[7:0];
        hdr.h.bool_ = (bit<8>) (bit<1>) (hdr.h.w > 0x100);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
