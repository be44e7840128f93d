// A mirror session may be given another port, and taken away.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        clone(CloneType.I2E, 7);
        mark_to_drop(SM);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
