// A header with options of any length in a checksum.
#include "include/base.p4"

header data_h { bit<8> n; bit<8> x; bit<16> sum; varbit<32> options; }
struct headers_t { data_h d; }
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.d, (bit<32>) packet.lookahead<bit<8>>() * 8);
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
        update_checksum(true, { hdr.d.n, hdr.d.x, hdr.d.options }, hdr.d.sum, HashAlgorithm.csum16);
    }
}
EMIT_ALL
SWITCH
