// A loop with a beginning, a condition and a step; the variable is seen in the loop alone.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action add_up() {
        bit<8> sum = 0;
        for (bit<8> i = 0, bit<8> j = 10; i < hdr.h.a && i < 8; i = i + 1, j = j - 1) {
            sum = sum + i * j;
        }
        hdr.h.b = sum;
    }
    apply {
        SM.egress_spec = 1;
        add_up();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
