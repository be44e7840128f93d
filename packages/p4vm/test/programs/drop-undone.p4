// Writing egress_spec after mark_to_drop undoes the drop; 511 itself drops.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        mark_to_drop(SM);
        if (hdr.h.a == 1) SM.egress_spec = 4;
        if (hdr.h.a == 2) SM.egress_spec = 511;
        if (hdr.h.a == 3) SM.egress_spec = 5;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
