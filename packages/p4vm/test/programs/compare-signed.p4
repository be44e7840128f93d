// Comparison of int<8> goes by sign, of bit<8> it does not.
#include "include/base.p4"

header x_h {
    bit<8> a;
    bit<8> b;
    bit<8> result;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> r = 0;
        if (hdr.h.a < hdr.h.b) r = r | 1;
        if ((int<8>) hdr.h.a < (int<8>) hdr.h.b) r = r | 2;
        if (hdr.h.a >= hdr.h.b) r = r | 4;
        if ((int<8>) hdr.h.a >= (int<8>) hdr.h.b) r = r | 8;
        if (hdr.h.a == hdr.h.b) r = r | 16;
        if ((int<8>) hdr.h.a > 0) r = r | 32;
        hdr.h.result = r;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
