// A register keeps its value from packet to packet, cell by cell.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    register<bit<8>>(4) seen;
    apply {
        bit<8> count;
        seen.read(count, (bit<32>) hdr.h.a);
        count = count + 1;
        seen.write((bit<32>) hdr.h.a, count);
        hdr.h.b = count;
        SM.egress_spec = 2;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
