// Comparison of 64-bit numbers, unsigned and signed.
#include "include/base.p4"

header x_h {
    bit<64> a;
    bit<64> b;
    bit<8> result;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.result = 0;
        if (hdr.h.a < hdr.h.b) hdr.h.result = hdr.h.result | 1;
        if ((int<64>) hdr.h.a < (int<64>) hdr.h.b) hdr.h.result = hdr.h.result | 2;
        if (hdr.h.a == hdr.h.b) hdr.h.result = hdr.h.result | 4;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
