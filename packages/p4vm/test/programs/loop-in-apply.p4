// A loop in an apply block, with a control applied in every round.
// simple_switch does not: there the statements of the loop run once, whatever its condition.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

control Add(in bit<8> x, inout bit<8> sum) {
    apply { sum = sum + x; }
}

INGRESS {
    Add() add;
    apply {
        SM.egress_spec = 1;
        bit<8> sum = 0;
        for (bit<8> i = 1; i <= hdr.h.a; i = i + 1) {
            add.apply(i, sum);
        }
        hdr.h.b = sum;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
