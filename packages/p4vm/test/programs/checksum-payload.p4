// A checksum over a field and the payload behind it.
#include "include/base.p4"

header sum_h {
    bit<16> checksum;
    bit<16> word;
}
struct headers_t { sum_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = 1; }
}
NO_EGRESS
COMPUTE {
    apply {
        update_checksum_with_payload(true, { hdr.h.word }, hdr.h.checksum, HashAlgorithm.csum16);
    }
}
EMIT_ALL
SWITCH
