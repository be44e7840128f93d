// Names declared inside hide those outside, until their block ends.
#include "include/base.p4"

const bit<8> X = 5;

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    bit<8> x = 1;
    apply {
        SM.egress_spec = 1;
        bit<8> y = x;
        {
            bit<8> x = 0x10;
            y = y + x;
            {
                bit<8> x = 0x40;
                y = y + x;
            }
            y = y + x;
        }
        hdr.h.a = x + X;
        hdr.h.b = y;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
