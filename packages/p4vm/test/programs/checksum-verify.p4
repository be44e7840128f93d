// verify_checksum of several sums: one wrong sum is enough for checksum_error.
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
VERIFY {
    apply {
        verify_checksum(true, { hdr.h.a, hdr.h.b, hdr.s.word }, hdr.s.sum, HashAlgorithm.csum16);
        verify_checksum(hdr.u.isValid(), { hdr.u.word }, hdr.u.sum, HashAlgorithm.csum16);
    }
}

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (SM.checksum_error == 1) SM.egress_spec = 2;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
