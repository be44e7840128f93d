// Fields of an invalid header are left out of a checksum; one kept in an invalid header is not written.
#include "include/base.p4"

header sum_h { bit<16> sum; bit<16> word; }
struct headers_t { pair_h h; sum_h s; sum_h u; }
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.s);
        transition select(hdr.h.a) {
            0: accept;
            default: second;
        }
    }
    state second {
        packet.extract(hdr.u);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = 1; }
}
NO_EGRESS
COMPUTE {
    apply {
        update_checksum(true, { hdr.h.a, hdr.h.b, hdr.s.word, hdr.u.word }, hdr.s.sum, HashAlgorithm.csum16);
        update_checksum(true, { hdr.u.word, hdr.h.a, hdr.h.b }, hdr.u.sum, HashAlgorithm.csum16);
    }
}
EMIT_ALL
SWITCH
