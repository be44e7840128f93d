// A parser may write headers and metadata after it extracted them, and make others valid.
#include "include/base.p4"

struct headers_t { pair_h h; pair_h k; pair_h l; }
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        hdr.h.b = hdr.h.a;
        hdr.h.a = 0xaa;
        hdr.k.setValid();
        hdr.k.b = 0x55;
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = 1; }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
