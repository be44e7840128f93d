// A hash is brought into a range: the base plus the remainder by the size.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hash(SM.egress_spec, HashAlgorithm.crc16, 9w2, { hdr.h.a, hdr.h.b }, 16w5);
        hash(hdr.h.b, HashAlgorithm.crc32, 8w100, { hdr.h.a }, 8w10);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
