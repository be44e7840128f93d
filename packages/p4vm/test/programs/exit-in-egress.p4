// exit in egress ends egress alone: the checksums and the deparser follow.
#include "include/base.p4"

header sum_h { bit<16> sum; }
struct headers_t { pair_h h; sum_h s; }
NO_METADATA

PARSER { state start { packet.extract(hdr.h); packet.extract(hdr.s); transition accept; } }
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = 1; }
}
EGRESS {
    apply {
        hdr.h.b = 0x11;
        if (hdr.h.a == 1) exit;
        hdr.h.b = 0x22;
    }
}
COMPUTE { apply { update_checksum(true, { hdr.h.a, hdr.h.b }, hdr.s.sum, HashAlgorithm.csum16); } }
EMIT_ALL
SWITCH
