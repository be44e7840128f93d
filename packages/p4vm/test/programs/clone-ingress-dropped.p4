// The packet is dropped, its clone is not.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        clone(CloneType.I2E, 5);
        mark_to_drop(SM);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
