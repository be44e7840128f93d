// break ends the loop around it, continue its round; loops within loops keep theirs.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    action add_up() {
        bit<8> sum = 0;
        for (bit<8> i = 0; i < 10; i = i + 1) {
            if (i == hdr.h.a) break;
            if (i & 1 == 1) continue;
            sum = sum + i;
            for (bit<8> j = 0; j < 4; j = j + 1) {
                if (j == 2) break;
                sum = sum + 0x10;
            }
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
