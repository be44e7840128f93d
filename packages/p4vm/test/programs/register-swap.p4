// Two registers and a packet: each cell is read and written in the order of the program.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    register<bit<8>>(1) one;
    register<bit<8>>(1) two;
    apply {
        bit<8> x;
        bit<8> y;
        one.read(x, 0);
        two.write(0, x);
        one.write(0, hdr.h.a);
        two.read(y, 0);
        hdr.h.b = y;
        SM.egress_spec = 1;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
