// setValid of an invalid header makes room for it in the packet; setInvalid takes it out and in again it is where the deparser has it.
#include "include/base.p4"

struct headers_t {
    pair_h h;
    pair_h extra;
}
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.extra.setValid();
        hdr.extra.a = 1;
        hdr.extra.b = 2;
        if (hdr.h.a == 1) hdr.extra.setInvalid();
        if (hdr.h.b == 1) {
            hdr.extra.setValid();
            hdr.extra.a = 3;
            hdr.extra.b = 4;
        }
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
