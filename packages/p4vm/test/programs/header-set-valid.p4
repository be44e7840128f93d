// setValid of a valid header keeps its fields; setInvalid takes the header out of the packet.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.h.setValid();
        hdr.k.setValid();
        hdr.k.a = hdr.h.a;
        hdr.k.b = hdr.h.b;
        hdr.h.setInvalid();
        if (!hdr.h.isValid()) hdr.k.b = hdr.k.b + 1;
        hdr.k.setValid();
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
