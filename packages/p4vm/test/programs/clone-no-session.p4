// A clone to a mirror session that is not configured is not made; the packet goes its way.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        clone(CloneType.I2E, 7);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
