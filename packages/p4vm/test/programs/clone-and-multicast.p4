// The packet is multicast and cloned: copies with the changes of ingress, the clone without.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        hdr.h.a = 0xaa;
        SM.mcast_grp = 1;
        clone(CloneType.I2E, 5);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
