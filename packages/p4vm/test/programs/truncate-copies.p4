// truncate in ingress is lost on copies of multicast and on clones; in egress it cuts the copy it is called for.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.mcast_grp = 1;
        clone(CloneType.I2E, 5);
        truncate(3);
    }
}
EGRESS {
    apply {
        if (SM.egress_port == 3) truncate(4);
    }
}
NO_COMPUTE
EMIT_ALL
SWITCH
