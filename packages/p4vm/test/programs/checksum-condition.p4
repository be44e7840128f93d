// A checksum is computed only if its condition holds.
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
        update_checksum(hdr.u.isValid(), { hdr.s.word }, hdr.s.sum, HashAlgorithm.csum16);
        update_checksum(hdr.h.a > 7, { hdr.u.word }, hdr.u.sum, HashAlgorithm.csum16);
    }
}
EMIT_ALL
SWITCH
