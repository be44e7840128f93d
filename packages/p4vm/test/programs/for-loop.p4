// Loops over numbers, with break and continue.
// simple_switch does not: there the statements of a loop in an apply block run once, whatever its condition.
#include "include/base.p4"

header x_h {
    bit<8> n;
    bit<8> sum;
    bit<8> odd;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> sum = 0;
        bit<8> odd = 0;
        for (bit<8> i = 0; i < 10; i = i + 1) {
            if (i == hdr.h.n) break;
            sum = sum + i;
            if (i & 1 == 0) continue;
            odd = odd + 1;
        }
        hdr.h.sum = sum;
        hdr.h.odd = odd;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
