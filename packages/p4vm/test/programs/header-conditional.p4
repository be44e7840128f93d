// A header chosen by a condition is copied with its validity.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; pair_h l; }
NO_METADATA

PARSER { state start { packet.extract(hdr.h); packet.extract(hdr.k); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        pair_h chosen = hdr.h;
        if (hdr.h.a != 1) chosen = hdr.l;
        hdr.k = hdr.h.a > 4 ? chosen : hdr.h;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
