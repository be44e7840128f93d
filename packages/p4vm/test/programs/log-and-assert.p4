// log_msg, assert and assume that hold change nothing.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        log_msg("a is {} and b is {}", { hdr.h.a, hdr.h.b });
        assert(hdr.h.isValid());
        assume(hdr.h.a != hdr.h.b);
        hdr.h.b = hdr.h.a;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
