// A clone made in ingress is the packet as it was received, whatever ingress did to it.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        hdr.h.a = 0xaa;
        SM.egress_spec = 2;
        clone(CloneType.I2E, 5);
        hdr.h.b = 0xbb;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
