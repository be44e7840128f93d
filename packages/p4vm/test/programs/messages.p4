// log_msg, assert and assume of what holds leave the packet alone.
#include "include/base.p4"

PAIR_HEADERS
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        log_msg("a packet");
        log_msg("a = {}, b = {}", { hdr.h.a, hdr.h.b });
        assert(hdr.h.isValid());
        assume(hdr.h.a < 255);
        hdr.h.b = hdr.h.b + 1;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
